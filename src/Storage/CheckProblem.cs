using System.Globalization;

namespace Treepie.Storage;

/// <summary>A problem found in the files of an environment.</summary>
/// <param name="File">The path of the file.</param>
/// <param name="Page">The page of the file, or null if it does not concern a single page.</param>
/// <param name="Tree">The name of the affected tree, in parentheses for internal trees; null if unknown.</param>
/// <param name="What">A description of the problem.</param>
public sealed record CheckProblem(string File, long? Page, string? Tree, string What)
{
    /// <summary>Returns the problem as one line.</summary>
    public override string ToString()
    {
        string place = Page is { } page ? string.Create(CultureInfo.InvariantCulture, $"{File}, page {page}") : File;
        return Tree is null ? $"{place}: {What}" : $"{place}, tree '{Tree}': {What}";
    }
}
