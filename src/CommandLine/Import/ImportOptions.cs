namespace Treepie.CommandLine.Import;

/// <summary>How an import treats each line.</summary>
internal sealed record ImportOptions
{
    /// <summary>Collection of every document, or null to use the one in each document's <c>@metadata</c>.</summary>
    public string? Collection { get; init; }

    /// <summary>Top-level string or number field that holds the id; if null, see <see cref="DocumentLine"/>.</summary>
    public string? IdField { get; init; }

    /// <summary>
    /// Prefix of ids taken from a field or a line number. If null, fields have no prefix and line numbers have the collection.
    /// </summary>
    public string? IdPrefix { get; init; }

    /// <summary>Whether the file is CSV instead of JSON lines.</summary>
    public bool IsCsv { get; init; }

    /// <summary>Separator of CSV cells, or null to detect it.</summary>
    public char? Separator { get; init; }

    /// <summary>Whether CSV cells stay strings, even if they read as a number, <c>true</c> or JSON.</summary>
    public bool KeepsText { get; init; }

    /// <summary>Maximum number of documents per batch. A batch is one transaction of the server.</summary>
    public int BatchDocuments { get; init; } = 1024;

    /// <summary>Size in bytes at which a batch is sent even if it has fewer documents.</summary>
    public int BatchBytes { get; init; } = 4 * 1024 * 1024;

    /// <summary>Whether existing documents are replaced instead of left unchanged.</summary>
    public bool Overwrite { get; init; }

    /// <summary>Whether lines without a document or refused by the server are skipped instead of ending the import.</summary>
    public bool SkipProblems { get; init; }
}
