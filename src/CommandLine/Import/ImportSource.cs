using System.Buffers;
using System.IO.Compression;
using System.Threading.Channels;

namespace Treepie.CommandLine.Import;

/// <summary>
/// Reads a file of JSON lines or CSV, gzipped or not (detected from its content), and builds batches, at most one ahead of the
/// sender.
/// </summary>
internal sealed class ImportSource(string path, ImportOptions options)
{
    /// <summary>Length of the file in bytes.</summary>
    public long Length { get; } = new FileInfo(path).Length;

    /// <summary>Writes the batches to <paramref name="batches"/> and completes the channel, with the exception if one
    /// occurs.</summary>
    public async Task ReadAsync(ChannelWriter<ImportBatch> batches, CancellationToken cancellationToken)
    {
        try
        {
            await using FileStream file = new(
                path, FileMode.Open, FileAccess.Read, FileShare.Read, 128 * 1024, FileOptions.SequentialScan);
            await using Stream content = IsGzip(file) ? new GZipStream(file, CompressionMode.Decompress) : file;
            if (options.IsCsv)
            {
                using var rows = new CsvLines(content, options.Separator, options.KeepsText);
                await ReadAsync(file, rows, batches, cancellationToken);
            }
            else
            {
                await ReadAsync(file, new JsonLines(content), batches, cancellationToken);
            }

            batches.Complete();
        }
        catch (Exception exception)
        {
            batches.Complete(exception);
        }
    }

    private async Task ReadAsync(
        FileStream file, IDocumentLines reader, ChannelWriter<ImportBatch> batches, CancellationToken cancellationToken)
    {
        var command = new ArrayBufferWriter<byte>(64 * 1024);
        var batch = new ImportBatch();
        while (await ReadLineAsync(reader, cancellationToken))
        {
            command.ResetWrittenCount();
            string id = "";
            LineProblem? problem = reader.Problem is { } wrong
                ? new LineProblem(reader.LineNumber, wrong)
                : DocumentLine.Write(reader.Line.Span, reader.LineNumber, options, command, out id);
            if (problem is not null)
            {
                batch.Problems.Add(problem);
                if (!options.SkipProblems)
                    break;

                continue;
            }

            bool full = batch.Count >= options.BatchDocuments || batch.Bytes + command.WrittenCount > options.BatchBytes;
            if (batch.Count > 0 && (full || (!options.Overwrite && batch.Holds(id))))
            {
                batch.FilePosition = file.Position;
                await batches.WriteAsync(batch, cancellationToken);
                batch = new ImportBatch();
            }

            batch.Add(id, reader.LineNumber, command.WrittenSpan);
        }

        batch.FilePosition = file.Position;
        if (batch.Count > 0 || batch.Problems.Count > 0)
            await batches.WriteAsync(batch, cancellationToken);
    }

    private async ValueTask<bool> ReadLineAsync(IDocumentLines reader, CancellationToken cancellationToken)
    {
        try
        {
            return await reader.ReadAsync(cancellationToken);
        }
        catch (InvalidDataException exception)
        {
            throw new InvalidDataException($"{path} is damaged after line {reader.LineNumber}: {exception.Message}", exception);
        }
    }

    private static bool IsGzip(FileStream file)
    {
        Span<byte> magic = stackalloc byte[2];
        bool gzip = file.ReadAtLeast(magic, 2, throwOnEndOfStream: false) == 2 && magic is [0x1f, 0x8b];
        file.Position = 0;
        return gzip;
    }
}
