using Treepie.Indexing.Analysis;

namespace Treepie.Indexing.Matching.Views;

/// <summary>
/// Views of one state of an index that nobody reads through at the moment, for those who come next: opening trees and making
/// buffers anew is most of what a small query would cost. They lie with the state itself, and go with it when a commit has made
/// another and the last reader has ended. Any number of threads.
/// </summary>
/// <remarks>
/// Memory: at most <see cref="Most"/> views with their buffers, some 20 KiB each and what they remember of places (400 KiB where
/// phrases of many words were asked for), and only as many as there were readers at once.
/// </remarks>
internal sealed class KeptViews
{
    private const int Most = 8;

    private readonly IndexView?[] _views = new IndexView?[Most];

    /// <summary>One with these analyzers, for the caller alone; null if there is none.</summary>
    public IndexView? Take(AnalyzerSet analyzers)
    {
        foreach (ref IndexView? place in _views.AsSpan())
        {
            if (Volatile.Read(ref place) is not { } seen || seen.AnalyzerSet != analyzers)
                continue;

            // Another thread may have exchanged it for another one meanwhile.
            if (Interlocked.CompareExchange(ref place, null, seen) == seen)
                return seen;
        }

        return null;
    }

    /// <summary>Takes one back; it is dropped where there are enough.</summary>
    public void Give(IndexView view)
    {
        foreach (ref IndexView? place in _views.AsSpan())
        {
            if (Volatile.Read(ref place) is null && Interlocked.CompareExchange(ref place, view, null) is null)
                return;
        }
    }
}
