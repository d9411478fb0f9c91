using System.Globalization;

namespace Treepie.Storage;

/// <summary>One fault in the files of an environment.</summary>
/// <param name="File">Path of the file that has it.</param>
/// <param name="Page">Page of that file, or null where it is about no single page.</param>
/// <param name="Tree">Name of the tree it hits; names in parentheses are the store's own. Null where none is known.</param>
/// <param name="What">What is wrong, as a sentence.</param>
public sealed record CheckProblem(string File, long? Page, string? Tree, string What)
{
    /// <summary>All of it as one line.</summary>
    public override string ToString()
    {
        string place = Page is { } page ? string.Create(CultureInfo.InvariantCulture, $"{File}, page {page}") : File;
        return Tree is null ? $"{place}: {What}" : $"{place}, tree '{Tree}': {What}";
    }
}
