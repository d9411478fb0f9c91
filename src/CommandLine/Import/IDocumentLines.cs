namespace Treepie.CommandLine.Import;

/// <summary>A file read as JSON lines with one document each.</summary>
internal interface IDocumentLines
{
    /// <summary>Line number at which the document begins, from 1; 0 before the first read.</summary>
    long LineNumber { get; }

    /// <summary>The document. Valid until the next read.</summary>
    ReadOnlyMemory<byte> Line { get; }

    /// <summary>Why the line holds no document, or null if it does.</summary>
    string? Problem { get; }

    /// <summary>Reads the next line. Returns false at the end.</summary>
    /// <exception cref="InvalidDataException">The file is damaged.</exception>
    ValueTask<bool> ReadAsync(CancellationToken cancellationToken);
}
