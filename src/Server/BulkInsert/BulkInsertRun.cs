using System.Buffers;
using System.IO.Pipelines;
using Treepie.Server.Http;
using Treepie.Server.Limits;
using Treepie.Server.Operations;
using Treepie.Writes;

namespace Treepie.Server.BulkInsert;

/// <summary>
/// One bulk insert: stores documents from the connection with the database's bulk insert, which commits one batch while the
/// next is read. A client that sends faster than the disk writes is slowed down by its connection.
/// </summary>
internal sealed class BulkInsertRun(HttpServerRequest request, Database database, Operation operation) : IDisposable
{
    /// <summary>The number of bytes of a large item that count as progress of the client.</summary>
    private const long ProgressBytes = 64 * 1024;

    private readonly BufferLease _lease = request.Services.Buffers.Open();
    private BulkInsertParser? _parser;
    private AttachmentUpload? _upload;
    private long _rawLeft;
    private (string Id, string Name, string? ContentType) _attached;
    private long _stored;
    private (long Attachments, long Counters, long TimeSeries) _beside, _besideReported;
    private long _itemsSeen;
    private long _bytesSeen;

    private BulkInsertParser Parser => _parser ??= new BulkInsertParser(database.Options, _lease);

    public void Dispose() => _lease.Dispose();

    /// <summary>Reads until the closing bracket; completes when everything is durable.</summary>
    public async Task RunAsync(PipeReader input, BulkInsertOptions options, CancellationToken cancellationToken)
    {
        Writes.BulkInsert insert = database.BulkInsert(options);
        try
        {
            await ReadToEndAsync(input, insert, cancellationToken).ConfigureAwait(false);
            await insert.CompleteAsync(cancellationToken).ConfigureAwait(false);
            Report(insert.Progress);
        }
        catch
        {
            if (_upload is not null)
                await _upload.DisposeAsync().ConfigureAwait(false);
            // Waits for the batch being committed: the database must not be closed during the write.
            await insert.AbortAsync().ConfigureAwait(false);
            Report(insert.Progress);
            throw;
        }
    }

    private async Task ReadToEndAsync(PipeReader input, Writes.BulkInsert insert, CancellationToken cancellationToken)
    {
        TimeSpan patience = request.Services.Limits.BulkInsertIdleTimeout;
        using var silence = new CancellationTokenSource(patience, request.Services.Clock);
        using var idle = CancellationTokenSource.CreateLinkedTokenSource(silence.Token, cancellationToken);
        while (!Parser.Ended)
        {
            ReadResult read = await ReadAsync(input, insert, idle, cancellationToken).ConfigureAwait(false);
            _bytesSeen += read.Buffer.Length;
            SequencePosition consumed = read.Buffer.End;
            try
            {
                consumed = await StoreAsync(read.Buffer, insert, cancellationToken).ConfigureAwait(false);
            }
            finally
            {
                // also after an error: an unfinished read would prevent draining the request after the response
                input.AdvanceTo(consumed);
            }

            Report(insert.Progress);
            if (Parser.Items > _itemsSeen || _bytesSeen >= ProgressBytes)
            {
                // Single bytes now and then do not count as progress; otherwise stalled inserts would last forever.
                (_itemsSeen, _bytesSeen) = (Parser.Items, 0);
                silence.CancelAfter(patience);
            }

            if (read.IsCompleted && !Parser.Ended)
                throw WireException.BadRequest(
                    $"The bulk insert broke off before its closing bracket. {_stored:N0} documents are stored; what came after "
                        + $"'{insert.Progress.LastId}' may be missing.");
        }
    }

    private async ValueTask<ReadResult> ReadAsync(
        PipeReader input, Writes.BulkInsert insert, CancellationTokenSource idle, CancellationToken cancellationToken)
    {
        try
        {
            ValueTask<ReadResult> reading = input.ReadOrCancelAsync(idle.Token);
            return reading.IsCompleted
                ? await reading.ConfigureAwait(false)
                : await FlushMeanwhileAsync(input, reading.AsTask(), insert, idle, cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested && idle.IsCancellationRequested)
        {
            throw WireException.Timeout(
                $"The bulk insert sent neither an item nor {ProgressBytes / 1024} KiB of one for "
                    + $"{request.Services.Limits.BulkInsertIdleTimeout}; {_stored:N0} documents are stored.");
        }
    }

    // No data is available, so write what has been received. The client may be waiting too, so errors are returned without
    // reading more of the request.
    private static async Task<ReadResult> FlushMeanwhileAsync(
        PipeReader input, Task<ReadResult> reading, Writes.BulkInsert insert, CancellationTokenSource idle,
        CancellationToken cancellationToken)
    {
        Task flush = insert.FlushAsync(cancellationToken);
        await Task.WhenAny(reading, flush).ConfigureAwait(false);
        try
        {
            await flush.ConfigureAwait(false); // the insert is not thread-safe: nothing else may use it before this completes
        }
        catch
        {
            await idle.CancelAsync().ConfigureAwait(false);
            await Task.WhenAny(reading).ConfigureAwait(false);
            if (reading.IsCompletedSuccessfully)
                // an unfinished read would prevent draining the request after the response
                input.AdvanceTo((await reading.ConfigureAwait(false)).Buffer.End);
            throw;
        }

        return await reading.ConfigureAwait(false);
    }

    private async ValueTask<SequencePosition> StoreAsync(
        ReadOnlySequence<byte> bytes, Writes.BulkInsert insert, CancellationToken cancellationToken)
    {
        long consumed = 0;
        foreach (ReadOnlyMemory<byte> piece in bytes)
        {
            int read = 0;
            while (read < piece.Length && !Parser.Ended)
            {
                if (_upload is not null)
                {
                    int taken = (int)Math.Min(_rawLeft, piece.Length - read);
                    await _upload.WriteAsync(piece.Slice(read, taken), cancellationToken).ConfigureAwait(false);
                    read += taken;
                    _rawLeft -= taken;
                    await StoreAttachmentAsync(insert, cancellationToken).ConfigureAwait(false);
                    continue;
                }

                read += Parser.Read(piece.Span[read..]);
                if (Parser.DocumentId is not { } id)
                    continue;
                if (Parser.Attachment is { } attachment)
                {
                    (_upload, _rawLeft, _attached) =
                        (database.BeginUpload(), Parser.RawBytes, (id, attachment.Name, attachment.ContentType));
                    await StoreAttachmentAsync(insert, cancellationToken).ConfigureAwait(false);
                }
                else if (Parser.IsCounters)
                    await StoreCountersAsync(id, insert, cancellationToken).ConfigureAwait(false);
                else if (Parser.IsTimeSeries)
                    await StoreTimeSeriesAsync(id, insert, cancellationToken).ConfigureAwait(false);
                else
                    await insert.StoreAsync(id, Parser.Document, cancellationToken).ConfigureAwait(false);
            }

            consumed += read;
            if (Parser.Ended)
                break;
        }

        return bytes.GetPosition(consumed);
    }

    /// <summary>Stores the current attachment if its content is complete.</summary>
    private async ValueTask StoreAttachmentAsync(Writes.BulkInsert insert, CancellationToken cancellationToken)
    {
        if (_upload is null || _rawLeft > 0)
            return;

        AttachmentUpload whole = _upload;
        _upload = null;
        await using (whole.ConfigureAwait(false))
        {
            await whole.CompleteAsync(cancellationToken).ConfigureAwait(false);
            await insert.AttachmentAsync(_attached.Id, _attached.Name, _attached.ContentType, whole, cancellationToken)
                .ConfigureAwait(false);
            _beside.Attachments++;
        }
    }

    private ValueTask StoreCountersAsync(string id, Writes.BulkInsert insert, CancellationToken cancellationToken)
    {
        using var json = System.Text.Json.JsonDocument.Parse(Parser.Document);
        (string document, List<Kinds.CounterOperation> operations) = CounterReader.Read(json.RootElement, id);
        _beside.Counters += operations.Count;
        return insert.CountersAsync(document, operations, cancellationToken);
    }

    private ValueTask StoreTimeSeriesAsync(string id, Writes.BulkInsert insert, CancellationToken cancellationToken)
    {
        using var json = System.Text.Json.JsonDocument.Parse(Parser.Document);
        (string name, List<Kinds.TimeSeriesPoint> points, _) = TimeSeriesReader.Read(id, json.RootElement);
        _beside.TimeSeries += points.Count;
        return insert.TimeSeriesAsync(id, name, points, cancellationToken);
    }

    private void Report(BulkInsertProgress progress)
    {
        if (progress.Documents == _stored && _beside == _besideReported)
            return;

        request.Services.Telemetry.BulkInserted(progress.Documents - _stored);
        _stored = progress.Documents;
        _besideReported = _beside;
        operation.Report(new OperationProgress(_stored, _stored, progress.Batches, progress.LastId)
        {
            Kind = OperationKind.BulkInsert,
            Attachments = _beside.Attachments,
            Counters = _beside.Counters,
            TimeSeries = _beside.TimeSeries,
        });
    }
}
