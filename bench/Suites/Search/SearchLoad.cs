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

    private readonly CancellationTokenSource _end = new();
    private readonly ManualResetEventSlim _ended = new();
    private Exception? _failure;

    public SearchLoad(TreepieVerses engine, string file) => QuietThread.Start(() => Work(engine, file), QuietThread.Steady);

    public void Dispose()
    {
        _end.Cancel();
        _ended.Wait();
        _end.Dispose();
        _ended.Dispose();
        if (_failure is not null)
            throw new InvalidOperationException("Indexing failed.", _failure);
    }

    private void Work(TreepieVerses engine, string file)
    {
        try
        {
            while (!_end.IsCancellationRequested)
                engine.Load(file, BatchSize, _end.Token);
        }
        catch (OperationCanceledException)
        {
            // Its last batch is given up.
        }
        catch (Exception error)
        {
            _failure = error;
        }
        finally
        {
            _ended.Set();
        }
    }
}
