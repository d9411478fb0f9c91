namespace Treepie.CommandLine.Import;

/// <summary>What an import does with each line.</summary>
internal sealed record ImportOptions
{
    /// <summary>Collection of every document; null takes each document's own, from its <c>@metadata</c>.</summary>
    public string? Collection { get; init; }

    /// <summary>Top-level field whose string or number is the id; null: see <see cref="DocumentLine"/>.</summary>
    public string? IdField { get; init; }

    /// <summary>
    /// What stands before the id, whether it comes from a field or is the line's number; null: nothing, or the collection.
    /// </summary>
    public string? IdPrefix { get; init; }

    /// <summary>Whether the file is CSV, and not JSON lines.</summary>
    public bool IsCsv { get; init; }

    /// <summary>What stands between cells of CSV; null: found out.</summary>
    public char? Separator { get; init; }

    /// <summary>Whether cells of CSV stay texts, also those that read as a number, <c>true</c> or JSON.</summary>
    public bool KeepsText { get; init; }

    /// <summary>Most documents of one batch, which is one transaction of the server.</summary>
    public int BatchDocuments { get; init; } = 1024;

    /// <summary>Size from which a batch is sent although it could take more documents.</summary>
    public int BatchBytes { get; init; } = 4 * 1024 * 1024;

    /// <summary>Replace documents that exist, instead of leaving them as they are.</summary>
    public bool Overwrite { get; init; }

    /// <summary>Pass over lines that are no documents, or that the server refuses, instead of stopping at the first.</summary>
    public bool SkipProblems { get; init; }
}
