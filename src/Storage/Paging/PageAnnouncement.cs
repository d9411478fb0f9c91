using System.Diagnostics;

namespace Treepie.Storage.Paging;

/// <summary>
/// Tells the system about pages that will be read one after the other, before the first read blocks; adjacent pages go into
/// one request. Only pages not verified yet are requested, so it costs next to nothing if everything is in memory.
/// </summary>
/// <param name="store">The store of the pages.</param>
internal ref struct PageAnnouncement(PageStore store)
{
    /// <summary>Maximum number of pages per request: 1 MiB.</summary>
    private const int MaxRun = 128;

    private readonly PageStore _store = store;
    private long _first;
    private int _pages;

    /// <summary>Adds a page, or a run that will be read as a whole.</summary>
    public void Add(long number, int run = 1)
    {
        if (!_store.IsUnseen(number))
            return;
        run = Math.Clamp(run, 1, MaxRun);
        if (_pages > 0 && number == _first + _pages && _pages + run <= MaxRun)
        {
            _pages += run;
            return;
        }

        End();
        (_first, _pages) = (number, run);
    }

    /// <summary>Sends the last request.</summary>
    public void End()
    {
        Debug.Assert(_pages <= MaxRun, "a request has no more pages than one may have");
        if (_pages > 0)
            _store.Announce(_first, _pages);
        _pages = 0;
    }
}
