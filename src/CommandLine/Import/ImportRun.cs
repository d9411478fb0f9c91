using System.Threading.Channels;
using Treepie.CommandLine.Http;

namespace Treepie.CommandLine.Import;

/// <summary>
/// One import: batches of a file, one after the other, each one transaction, while the next is read and checked.
/// <para>
/// Batches and not one bulk insert: a bulk insert is acknowledged once, at its end, and cannot ask that a document does not
/// exist. It costs the server the same; the reading and checking of the lines is what an import takes its time for.
/// </para>
/// <para>
/// How it resumes. The ids depend on the file alone (<see cref="DocumentLine"/>), and unless told to overwrite every document is
/// sent with the condition that it does not exist yet. After an interruption the same command therefore meets the documents that
/// were acknowledged, and possibly the last batch whose acknowledgement was lost: the server refuses that batch as a whole, is
/// then asked which of its ids it has, and gets the others. From there on each batch is asked for first, until one is wholly
/// missing; that is where the interruption was. So nothing is written twice, nothing left out, and what exists is never changed,
/// even where the documents in the database are not the beginning of the file.
/// </para>
/// <para>
/// A batch that the server refuses for its content is halved until the document at fault stands alone, so that its line can be
/// named and all others of the batch are imported.
/// </para>
/// </summary>
internal sealed class ImportRun(DatabaseClient database, ImportOptions options, IImportProgress progress)
{
    /// <summary>
    /// Another writer may create documents between the question and the batch; so often it is not chance any more.
    /// </summary>
    private const int MaxConflicts = 8;

    private long _written;
    private long _alreadyThere;
    private long _problems;
    private long _bytesSent;
    private bool _asksFirst;

    /// <summary>How far it is: all of it is durable, also when the run ended with an exception.</summary>
    public ImportCounts Counts { get; private set; } = new(0, 0, 0, 0, 0, 0);

    /// <summary>
    /// Runs to the end of the file, to the first problem if it shall stop there, or to an exception.
    /// </summary>
    /// <returns>The problem that stopped it, or null.</returns>
    public async Task<LineProblem?> RunAsync(ImportSource source, CancellationToken cancellationToken)
    {
        // Holds one batch: while one is sent and one waits, the file is not read, which bounds the memory.
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

    /// <summary>Sends a batch; gives the problem at which to stop, after everything before it was written.</summary>
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
