using Treepie.Storage.Memory;

namespace Treepie.Bench.Suites.Search;

/// <summary>
/// Indexes a file over and over into our index, a commit for each batch, on a quiet thread as indexes of a database are, until it
/// is disposed.
/// </summary>
internal sealed class SearchLoad : IDisposable
{
    /// <summary>Documents of a commit.</summary>
    public const int BatchSize = 1_000;

    private readonly CancellationTokenSource end = new();
    private readonly ManualResetEventSlim ended = new();
    private Exception? failure;

    public SearchLoad(TreepieVerses engine, string file) => QuietThread.Start(() => Work(engine, file), QuietThread.Steady);

    public void Dispose()
    {
        end.Cancel();
        ended.Wait();
        end.Dispose();
        ended.Dispose();
        if (failure is not null)
            throw new InvalidOperationException("Indexing failed.", failure);
    }

    private void Work(TreepieVerses engine, string file)
    {
        try
        {
            while (!end.IsCancellationRequested)
                engine.Load(file, BatchSize, end.Token);
        }
        catch (OperationCanceledException)
        {
            // Its last batch is given up.
        }
        catch (Exception error)
        {
            failure = error;
        }
        finally
        {
            ended.Set();
        }
    }
}
