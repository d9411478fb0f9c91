using System.Globalization;

namespace Treepie.Bench.Suites.Search;

/// <summary>What is indexed of one text.</summary>
/// <param name="Group">Field <c>tr</c>: one of a few values.</param>
/// <param name="Number">Field <c>num</c>: spread evenly.</param>
/// <param name="Day">Field <c>day</c>: few values for most.</param>
/// <param name="Text">Field <c>text</c>: words in lower case with a blank between, so that every engine cuts them alike.</param>
internal sealed record SearchDocument(string Group, long Number, long Day, string Text)
{
    /// <summary>A line of the file that all engines read.</summary>
    public string Line => string.Create(CultureInfo.InvariantCulture, $"{Group}\t{Number}\t{Day}\t{Text}");

    /// <summary>Reads <see cref="Line"/>.</summary>
    public static SearchDocument Parse(string line)
    {
        string[] parts = line.Split('\t', 4);
        return new SearchDocument(
            parts[0], long.Parse(parts[1], CultureInfo.InvariantCulture), long.Parse(parts[2], CultureInfo.InvariantCulture),
            parts[3]);
    }
}
