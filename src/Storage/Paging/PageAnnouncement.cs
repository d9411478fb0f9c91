namespace Treepie.Storage.Paging;

/// <summary>
/// Pages that are going to be looked at one after the other, told to the system before the first is waited for: those that lie
/// side by side in one request. Only those are told that nobody has looked at yet, so it costs next to nothing where everything
/// is in memory.
/// </summary>
/// <param name="store">Where they lie.</param>
internal ref struct PageAnnouncement(PageStore store)
{
    /// <summary>Pages of one request at the most: a mebibyte.</summary>
    private const int MaxRun = 128;

    private readonly PageStore _store = store;
    private long _first;
    private int _pages;

    /// <summary>Adds a page, or a run of them that is looked at as a whole.</summary>
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

    /// <summary>Tells the last of them.</summary>
    public void End()
    {
        if (_pages > 0)
            _store.Announce(_first, _pages);
        _pages = 0;
    }
}
