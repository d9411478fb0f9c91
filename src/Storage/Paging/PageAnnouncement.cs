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

    private readonly PageStore store = store;
    private long first;
    private int pages;

    /// <summary>Adds a page, or a run of them that is looked at as a whole.</summary>
    public void Add(long number, int run = 1)
    {
        if (!store.IsUnseen(number))
            return;
        run = Math.Clamp(run, 1, MaxRun);
        if (pages > 0 && number == first + pages && pages + run <= MaxRun)
        {
            pages += run;
            return;
        }

        End();
        (first, pages) = (number, run);
    }

    /// <summary>Tells the last of them.</summary>
    public void End()
    {
        if (pages > 0)
            store.Announce(first, pages);
        pages = 0;
    }
}
