using System.Buffers;
using System.IO.Pipelines;
using Treepie.Server.Http;
using Treepie.Server.Operations;

namespace Treepie.Server.BulkInsert;

/// <summary>
/// One bulk insert: while one batch is on its way to the disk the next is read, and no more: a client that sends faster than the disk
/// writes is slowed by its own connection. Memory is two batches and one document.
/// </summary>
internal sealed class BulkInsertRun(HttpServerRequest request, Database database, Operation operation)
{
    private readonly BulkInsertParser parser = new(database.Options);
    private BulkInsertBatch filling = new();
    private BulkInsertBatch spare = new();
    private Task? writing;
    private long stored;
    private long batches;
    private string? lastId;

    /// <summary>Reads until the closing bracket; completes when everything is durable.</summary>
    public async Task RunAsync(PipeReader input, CancellationToken cancellationToken)
    {
        using var idle = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        try
        {
            await ReadToEndAsync(input, idle, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            // The database must not close under a write that nobody waits for any more.
            if (writing is not null)
                await writing.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private async Task ReadToEndAsync(PipeReader input, CancellationTokenSource idle, CancellationToken cancellationToken)
    {
        while (!parser.Ended)
        {
            if (writing is { IsCompleted: true })
                await FinishWriteAsync().ConfigureAwait(false); // says at once if it failed

            ReadResult read = await ReadAsync(input, idle, cancellationToken).ConfigureAwait(false);
            SequencePosition consumed = await ParseAsync(read.Buffer, cancellationToken).ConfigureAwait(false);
            input.AdvanceTo(consumed);
            if (read.IsCompleted && !parser.Ended)
                throw WireException.BadRequest(
                    $"The bulk insert broke off before its closing bracket. {stored:N0} documents are stored; what came after '{lastId}' may be missing.");
        }

        await WriteAsync(cancellationToken).ConfigureAwait(false);
        await FinishWriteAsync().ConfigureAwait(false);
    }

    private async ValueTask<ReadResult> ReadAsync(PipeReader input, CancellationTokenSource idle, CancellationToken cancellationToken)
    {
        TimeSpan patience = request.Server.Options.BulkInsertIdleTimeout;
        idle.CancelAfter(patience);
        try
        {
            ValueTask<ReadResult> reading = input.ReadAsync(idle.Token);

            // Nothing is there just now: a good moment to write what has come, if the disk is free.
            if (!reading.IsCompleted && filling.Count > 0 && writing is null)
                await WriteAsync(cancellationToken).ConfigureAwait(false);

            return await reading.ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw WireException.Timeout($"The bulk insert was silent for {patience}; {stored:N0} documents are stored.");
        }
    }

    private async ValueTask<SequencePosition> ParseAsync(ReadOnlySequence<byte> bytes, CancellationToken cancellationToken)
    {
        long consumed = 0;
        foreach (ReadOnlyMemory<byte> piece in bytes)
        {
            int read = 0;
            while (read < piece.Length && !parser.Ended)
            {
                read += parser.Read(piece.Span[read..], filling);
                if (BulkInsertParser.IsFull(filling))
                    await WriteAsync(cancellationToken).ConfigureAwait(false);
            }

            consumed += read;
            if (parser.Ended)
                break;
        }

        return bytes.GetPosition(consumed);
    }

    // Waits for the batch before, then sends this one and goes on reading.
    private async Task WriteAsync(CancellationToken cancellationToken)
    {
        await FinishWriteAsync().ConfigureAwait(false);
        if (filling.Count == 0)
            return;

        parser.MoveUnfinishedItem(filling, spare);
        writing = StoreAsync(filling, cancellationToken);
        (filling, spare) = (spare, filling);
    }

    private async Task FinishWriteAsync()
    {
        if (writing is null)
            return;

        await writing.ConfigureAwait(false);
        writing = null;
        spare.Clear(); // only now: until then the writer was reading it
    }

    private async Task StoreAsync(BulkInsertBatch batch, CancellationToken cancellationToken)
    {
        int count = batch.Count;
        string? last = batch.LastId;
        await database.WriteAsync(batch.ToWriteBatch(), cancellationToken).ConfigureAwait(false);
        stored += count;
        batches++;
        lastId = last;
        request.Server.Telemetry.BulkInserted(count);
        operation.Report(new OperationProgress(stored, stored, batches, last));
    }
}
