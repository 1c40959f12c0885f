"""`fastevals compare`: whether models really differ, by results on data sets or by predictions on rows."""
