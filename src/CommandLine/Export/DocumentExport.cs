using System.IO.Compression;
using Treepie.CommandLine.Http;
using Treepie.Storage.Files;

namespace Treepie.CommandLine.Export;

/// <summary>
/// Copies the documents of a database or of one collection line by line from the server to a file. Needs memory for the longest
/// line only. The export is one snapshot: each concurrent transaction is included completely or not at all.
/// </summary>
internal sealed class DocumentExport(DatabaseClient database, string? collection)
{
    private static readonly byte[] _newLine = "\n"u8.ToArray();

    /// <summary>
    /// Writes a file. It is written under a temporary name, flushed to disk, and only then replaces an existing file, so that a
    /// failed export changes nothing.
    /// </summary>
    /// <returns>Documents written.</returns>
    public async Task<long> ToFileAsync(string path, CancellationToken cancellationToken)
    {
        DurableFile.RemoveAbandoned(path);
        return await DurableFile.WriteAsync(path, async file =>
        {
            if (!path.EndsWith(".gz", StringComparison.OrdinalIgnoreCase))
                return await ToStreamAsync(file, cancellationToken);

            await using var compressed = new GZipStream(file, CompressionLevel.Optimal, leaveOpen: true);
            return await ToStreamAsync(compressed, cancellationToken);
        });
    }

    /// <summary>Writes to a stream, which stays open.</summary>
    /// <returns>Documents written.</returns>
    public async Task<long> ToStreamAsync(Stream output, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = collection is null
            ? await database.StreamDocumentsAsync(cancellationToken)
            : await database.StreamQueryAsync(CollectionQuery(collection), cancellationToken);
        await using Stream lines = await response.Content.ReadAsStreamAsync(cancellationToken);
        var buffered = new BufferedStream(output, 128 * 1024); // not disposed, because that would close the caller's stream
        var reader = new LineReader(lines);
        long count = 0;
        bool complete = collection is null; // a stream of documents has no final statistics line; it ends with the response
        while (await reader.ReadAsync(cancellationToken))
        {
            if (reader.IsTooLong)
                throw new InvalidDataException(
                    $"Document {count + 1} of the answer is longer than {LineReader.DefaultMaxLineBytes} bytes.");

            if (reader.Line.IsEmpty)
                continue;

            ReadOnlyMemory<byte> document = collection is null ? reader.Line : StreamedAnswer.ItemOf(reader.Line);
            if (document.IsEmpty)
            {
                complete |= !StreamedAnswer.StatsOf(reader.Line).IsEmpty;
                if (StreamedAnswer.ErrorOf(reader.Line) is { } error)
                    throw new InvalidDataException($"The server broke off after {count} documents: {error}");

                continue;
            }

            await buffered.WriteAsync(document, cancellationToken);
            await buffered.WriteAsync(_newLine, cancellationToken);
            count++;
        }

        if (!complete)
            throw new InvalidDataException($"The answer of the server ends after {count} documents without its statistics.");

        await buffered.FlushAsync(cancellationToken);
        return count;
    }

    private static byte[] CollectionQuery(string collection) => ServerClient.Json(writer =>
        writer.WriteString("Query", $"from '{collection.Replace("'", "''", StringComparison.Ordinal)}'"));
}
