using Treepie.Indexing.Analysis;

namespace Treepie.Indexing.Matching.Views;

/// <summary>
/// Unused views of one state of an index, kept for the next readers: opening trees and allocating buffers is most of the
/// cost of a small query. They are stored with the state itself and are released with it, once a commit has replaced it and
/// its last reader has ended. Thread-safe.
/// </summary>
/// <remarks>
/// Memory: at most <see cref="Most"/> views and only as many as there were concurrent readers, with buffers of some 20 KiB
/// each and cached page addresses (400 KiB after phrases of many words).
/// </remarks>
internal sealed class KeptViews
{
    private const int Most = 8;

    private readonly IndexView?[] _views = new IndexView?[Most];

    /// <summary>Takes a view with these analyzers for exclusive use; null if there is none.</summary>
    public IndexView? Take(AnalyzerSet analyzers)
    {
        foreach (ref IndexView? place in _views.AsSpan())
        {
            if (Volatile.Read(ref place) is not { } seen || seen.AnalyzerSet != analyzers)
                continue;

            // Another thread may have exchanged it in the meantime.
            if (Interlocked.CompareExchange(ref place, null, seen) == seen)
                return seen;
        }

        return null;
    }

    /// <summary>Returns a view, which is dropped if enough are kept.</summary>
    public void Give(IndexView view)
    {
        foreach (ref IndexView? place in _views.AsSpan())
        {
            if (Volatile.Read(ref place) is null && Interlocked.CompareExchange(ref place, view, null) is null)
                return;
        }
    }
}
