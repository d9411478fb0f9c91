using System.Buffers;
using System.IO.Pipelines;
using Treepie.Server.Http;
using Treepie.Server.Operations;
using Treepie.Writes;

namespace Treepie.Server.BulkInsert;

/// <summary>
/// One bulk insert: documents go from the connection into the database's own bulk insert, which commits one batch while the next is read, and
/// no more: a client that sends faster than the disk writes is slowed by its own connection.
/// </summary>
internal sealed class BulkInsertRun(HttpServerRequest request, Database database, Operation operation)
{
    private readonly BulkInsertParser parser = new(database.Options);
    private long stored;

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
            // Waits for the batch on its way: the database must not close under a write that nobody waits for.
            await insert.AbortAsync().ConfigureAwait(false);
            Report(insert.Progress);
            throw;
        }
    }

    private async Task ReadToEndAsync(PipeReader input, Writes.BulkInsert insert, CancellationToken cancellationToken)
    {
        using var idle = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        while (!parser.Ended)
        {
            ReadResult read = await ReadAsync(input, insert, idle, cancellationToken).ConfigureAwait(false);
            SequencePosition consumed = read.Buffer.End;
            try
            {
                consumed = await StoreAsync(read.Buffer, insert, cancellationToken).ConfigureAwait(false);
            }
            finally
            {
                input.AdvanceTo(consumed); // also when a document is refused: what is open cannot be read away after the answer
            }

            Report(insert.Progress);
            if (read.IsCompleted && !parser.Ended)
                throw WireException.BadRequest(
                    $"The bulk insert broke off before its closing bracket. {stored:N0} documents are stored; what came after '{insert.Progress.LastId}' may be missing.");
        }
    }

    private async ValueTask<ReadResult> ReadAsync(
        PipeReader input, Writes.BulkInsert insert, CancellationTokenSource idle, CancellationToken cancellationToken)
    {
        TimeSpan patience = request.Server.Options.BulkInsertIdleTimeout;
        idle.CancelAfter(patience);
        try
        {
            ValueTask<ReadResult> reading = input.ReadOrCancelAsync(idle.Token);
            if (reading.IsCompleted)
                return await reading.ConfigureAwait(false);

            // Nothing is there just now: a good moment to write what has come.
            Task flush = insert.FlushAsync(cancellationToken);
            try
            {
                return await reading.ConfigureAwait(false);
            }
            finally
            {
                await flush.ConfigureAwait(false); // one caller at a time: nobody else may touch the insert before
            }
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested && idle.IsCancellationRequested)
        {
            throw WireException.Timeout($"The bulk insert was silent for {patience}; {stored:N0} documents are stored.");
        }
    }

    private async ValueTask<SequencePosition> StoreAsync(ReadOnlySequence<byte> bytes, Writes.BulkInsert insert, CancellationToken cancellationToken)
    {
        long consumed = 0;
        foreach (ReadOnlyMemory<byte> piece in bytes)
        {
            int read = 0;
            while (read < piece.Length && !parser.Ended)
            {
                read += parser.Read(piece.Span[read..]);
                if (parser.DocumentId is { } id)
                    await insert.StoreAsync(id, parser.Document, cancellationToken).ConfigureAwait(false);
            }

            consumed += read;
            if (parser.Ended)
                break;
        }

        return bytes.GetPosition(consumed);
    }

    private void Report(BulkInsertProgress progress)
    {
        if (progress.Documents == stored)
            return;

        request.Server.Telemetry.BulkInserted(progress.Documents - stored);
        stored = progress.Documents;
        operation.Report(new OperationProgress(stored, stored, progress.Batches, progress.LastId));
    }
}
