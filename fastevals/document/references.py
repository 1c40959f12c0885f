"""Works that sentences cite: their text and BibTeX, in one place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

LATEX = {"š": r"{\v{s}}", "é": r"{\'e}"}  # of letters in names and titles
MOST_NAMED = 2  # authors in a citation; with more, only the first is named


class CitedWork(NamedTuple):
    """A work: authors as "Family, Given" in order."""

    kind: str  # of its BibTeX entry
    authors: tuple[str, ...]
    year: int
    title: str
    place: str  # journal or school
    volume: str = ""
    number: str = ""
    pages: str = ""
    doi: str = ""
    url: str = ""

    def cited(self) -> str:
        """Return the authors' family names and the year, as between parentheses in a sentence."""
        names = [author.partition(",")[0] for author in self.authors]
        said = " and ".join(names) if len(names) <= MOST_NAMED else f"{names[0]} et al."
        return f"{said}, {self.year}"

    def text(self) -> str:
        """Return the work as in a list of references."""
        names = [f"{family}, {''.join(f'{each[0]}. ' for each in given.split()).strip()}"
                 for family, _, given in (author.partition(", ") for author in self.authors)]  # fmt: skip
        issue = f" {self.volume}" + (f"({self.number})" if self.number else "") if self.volume else ""
        pages = f", {self.pages}" if self.pages else ""
        link = f" doi:{self.doi}." if self.doi else f" {self.url}." if self.url else ""
        said = ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
        return f"{said} ({self.year}). {self.title}. {self.place}{issue}{pages}.{link}"

    def bibtex(self, key: str) -> str:
        """Return the work as a BibTeX entry."""
        place = "school" if self.kind == "phdthesis" else "journal"
        fields = {
            "author": " and ".join(self.authors), "title": f"{{{self.title}}}", place: self.place,
            "year": str(self.year), "volume": self.volume, "number": self.number,
            "pages": self.pages.replace("-", "--"), "doi": self.doi, "url": self.url,
        }  # fmt: skip
        lines = [f"  {name} = {{{_as_latex(value)}}}" for name, value in fields.items() if value]
        return f"@{self.kind}{{{key},\n" + ",\n".join(lines) + "\n}\n"


def _as_latex(text: str) -> str:
    return "".join(LATEX.get(letter, letter) for letter in text)


REFERENCES = {
    "benavoli2016": CitedWork(
        "article", ("Benavoli, Alessio", "Corani, Giorgio", "Mangili, Francesca"), 2016,
        "Should We Really Use Post-Hoc Tests Based on Mean-Ranks?", "Journal of Machine Learning Research", "17", "5",
        "1-10", url="https://www.jmlr.org/papers/v17/benavoli16a.html"),
    "benjamini1995": CitedWork(
        "article", ("Benjamini, Yoav", "Hochberg, Yosef"), 1995,
        "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
        "Journal of the Royal Statistical Society: Series B", "57", "1", "289-300",
        "10.1111/j.2517-6161.1995.tb02031.x"),
    "demsar2006": CitedWork(
        "article", ("Demšar, Janez",), 2006, "Statistical Comparisons of Classifiers over Multiple Data Sets",
        "Journal of Machine Learning Research", "7", "", "1-30",
        url="https://www.jmlr.org/papers/v7/demsar06a.html"),
    "dunn1961": CitedWork(
        "article", ("Dunn, Olive Jean",), 1961, "Multiple Comparisons Among Means",
        "Journal of the American Statistical Association", "56", "293", "52-64", "10.1080/01621459.1961.10482090"),
    "finner1993": CitedWork(
        "article", ("Finner, Helmut",), 1993, "On a Monotonicity Problem in Step-Down Multiple Test Procedures",
        "Journal of the American Statistical Association", "88", "423", "920-923", "10.1080/01621459.1993.10476358"),
    "friedman1937": CitedWork(
        "article", ("Friedman, Milton",), 1937,
        "The Use of Ranks to Avoid the Assumption of Normality Implicit in the Analysis of Variance",
        "Journal of the American Statistical Association", "32", "200", "675-701", "10.1080/01621459.1937.10503522"),
    "hochberg1988": CitedWork(
        "article", ("Hochberg, Yosef",), 1988, "A Sharper Bonferroni Procedure for Multiple Tests of Significance",
        "Biometrika", "75", "4", "800-802", "10.1093/biomet/75.4.800"),
    "holm1979": CitedWork(
        "article", ("Holm, Sture",), 1979, "A Simple Sequentially Rejective Multiple Test Procedure",
        "Scandinavian Journal of Statistics", "6", "2", "65-70"),
    "iman1980": CitedWork(
        "article", ("Iman, Ronald L.", "Davenport, James M."), 1980,
        "Approximations of the Critical Region of the Friedman Statistic",
        "Communications in Statistics - Theory and Methods", "9", "6", "571-595", "10.1080/03610928008827904"),
    "kerby2014": CitedWork(
        "article", ("Kerby, Dave S.",), 2014,
        "The Simple Difference Formula: An Approach to Teaching Nonparametric Correlation",
        "Comprehensive Psychology", "3", doi="10.2466/11.IT.3.1"),
    "nadeau2003": CitedWork(
        "article", ("Nadeau, Claude", "Bengio, Yoshua"), 2003, "Inference for the Generalization Error",
        "Machine Learning", "52", "3", "239-281", "10.1023/A:1024068626366"),
    "nemenyi1963": CitedWork(
        "phdthesis", ("Nemenyi, Peter Bjorn",), 1963, "Distribution-Free Multiple Comparisons",
        "Princeton University"),
    "shaffer1986": CitedWork(
        "article", ("Shaffer, Juliet Popper",), 1986, "Modified Sequentially Rejective Multiple Test Procedures",
        "Journal of the American Statistical Association", "81", "395", "826-831", "10.1080/01621459.1986.10478341"),
    "wilcoxon1945": CitedWork(
        "article", ("Wilcoxon, Frank",), 1945, "Individual Comparisons by Ranking Methods", "Biometrics Bulletin", "1",
        "6", "80-83", "10.2307/3001968"),
}  # fmt: skip


def cite(*keys: str) -> str:
    """Return works as cited in a sentence, in parentheses."""
    return f"({'; '.join(REFERENCES[key].cited() for key in keys)})"


def write_bibtex(keys: Iterable[str]) -> str:
    """Return works as BibTeX entries, without repeats."""
    return "\n".join(REFERENCES[key].bibtex(key) for key in dict.fromkeys(keys))
