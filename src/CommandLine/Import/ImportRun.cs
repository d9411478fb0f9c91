using System.Threading.Channels;
using Treepie.CommandLine.Http;

namespace Treepie.CommandLine.Import;

/// <summary>
/// Imports a file in batches, each one transaction, and reads and checks the next batch while one is sent.
/// <para>
/// Batches are used instead of one bulk insert because a bulk insert is acknowledged only once, at its end, and cannot require
/// that a document does not exist. The cost for the server is the same; most time goes into reading and checking lines.
/// </para>
/// <para>
/// Resuming: ids depend on the file alone (<see cref="DocumentLine"/>), and unless documents may be overwritten, each is sent
/// with the condition that it does not exist. After an interruption, the same command encounters the documents that were
/// acknowledged, and possibly the last batch if its acknowledgement was lost. The server refuses such a batch as a whole, is
/// then asked which of the ids exist, and gets only the others. From then on it is asked before each batch, until a batch is
/// missing completely, which is where the interruption was. So nothing is written twice, nothing is left out, and existing
/// documents never change, even if the database holds other documents than the beginning of the file.
/// </para>
/// <para>
/// If the server refuses a batch because of its content, the batch is halved until the document at fault is alone. Its line can
/// then be reported, and all other documents are imported.
/// </para>
/// </summary>
internal sealed class ImportRun(DatabaseClient database, ImportOptions options, IImportProgress progress)
{
    /// <summary>
    /// Another writer may create documents between the check and the batch. More conflicts than this are not coincidence.
    /// </summary>
    private const int MaxConflicts = 8;

    private long _written;
    private long _alreadyThere;
    private long _problems;
    private long _bytesSent;
    private bool _asksFirst;

    /// <summary>Progress so far. Everything counted is durable, even if the run ended with an exception.</summary>
    public ImportCounts Counts { get; private set; } = new(0, 0, 0, 0, 0, 0);

    /// <summary>
    /// Runs to the end of the file, to the first problem if the import stops at problems, or until an exception.
    /// </summary>
    /// <returns>The problem that stopped the import, or null.</returns>
    public async Task<LineProblem?> RunAsync(ImportSource source, CancellationToken cancellationToken)
    {
        // Capacity 1 bounds memory: while one batch is sent and one waits, the file is not read.
        var batches = Channel.CreateBounded<ImportBatch>(
            new BoundedChannelOptions(1) { SingleReader = true, SingleWriter = true });
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        Task reading = Task.Run(() => source.ReadAsync(batches.Writer, stop.Token), CancellationToken.None);
        try
        {
            await foreach (ImportBatch batch in batches.Reader.ReadAllAsync(cancellationToken))
            {
                LineProblem? refused = await SendAsync(batch, cancellationToken);
                Report(batch, source);
                if (refused is not null)
                    return refused;

                if (!options.SkipProblems && batch.Problems is [var first, ..])
                    return first;

                foreach (LineProblem problem in batch.Problems)
                    Pass(problem);
            }

            return null;
        }
        finally
        {
            await stop.CancelAsync();
            await reading;
        }
    }

    /// <summary>Sends a batch. Returns the problem to stop at, after everything before it was written, or null.</summary>
    private async Task<LineProblem?> SendAsync(ImportBatch batch, CancellationToken cancellationToken)
    {
        for (int conflicts = 0; ;)
        {
            if (_asksFirst)
                batch = await MissingOfAsync(batch, cancellationToken);

            if (batch.Count == 0)
                return null;

            try
            {
                ReadOnlyMemory<byte> body = batch.ToBody();
                await database.WriteAsync(body, cancellationToken);
                _written += batch.Count;
                _bytesSent += body.Length;
                return null;
            }
            catch (ServerException exception) when (exception.IsConflict && !options.Overwrite && ++conflicts <= MaxConflicts)
            {
                _asksFirst = true;
            }
            catch (ServerException exception) when (exception.IsRefusal)
            {
                return await SendHalvesAsync(batch, exception, cancellationToken);
            }
        }
    }

    private async Task<ImportBatch> MissingOfAsync(ImportBatch batch, CancellationToken cancellationToken)
    {
        if (batch.Count == 0)
            return batch;

        bool[] exist = await database.ExistAsync(batch.Ids, cancellationToken);
        int existing = exist.Count(there => there);
        _alreadyThere += existing;
        if (existing > 0)
            return batch.Part(i => !exist[i]);

        _asksFirst = false;
        return batch;
    }

    private async Task<LineProblem?> SendHalvesAsync(
        ImportBatch batch, ServerException refusal, CancellationToken cancellationToken)
    {
        if (batch.Count == 1)
        {
            var problem = new LineProblem(batch.FirstLine, $"the server refuses '{batch.Ids[0]}': {refusal.Message}");
            if (!options.SkipProblems)
                return problem;

            Pass(problem);
            return null;
        }

        int half = batch.Count / 2;
        return await SendAsync(batch.Part(i => i < half), cancellationToken)
            ?? await SendAsync(batch.Part(i => i >= half), cancellationToken);
    }

    private void Pass(LineProblem problem)
    {
        _problems++;
        Counts = Counts with { Problems = _problems };
        progress.Report(problem);
    }

    private void Report(ImportBatch batch, ImportSource source)
    {
        Counts = new ImportCounts(_written, _alreadyThere, _problems, batch.FilePosition, source.Length, _bytesSent);
        progress.Report(Counts);
    }
}
