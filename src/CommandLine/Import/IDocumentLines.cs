namespace Treepie.CommandLine.Import;

/// <summary>A file as lines of JSON, one document each.</summary>
internal interface IDocumentLines
{
    /// <summary>Number of the line of the file at which the document begins, from 1; 0 before the first.</summary>
    long LineNumber { get; }

    /// <summary>The document; valid until the next read.</summary>
    ReadOnlyMemory<byte> Line { get; }

    /// <summary>What is wrong with the line, so that there is no document; null if nothing is.</summary>
    string? Problem { get; }

    /// <summary>Reads the next line; false at the end.</summary>
    /// <exception cref="InvalidDataException">The file is damaged.</exception>
    ValueTask<bool> ReadAsync(CancellationToken cancellationToken);
}
