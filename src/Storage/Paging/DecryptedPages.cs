using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Storage.Encryption;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Paging;

/// <summary>
/// The decrypted pages of an encrypted file: a second address range as long as the map of the file, in which each page has
/// the same offset. So a reader finds a decrypted page as it finds an unencrypted one, by one load from the page table; the
/// cost of decryption is paid once, when a page is first touched, for all readers.
/// </summary>
/// <remarks>
/// A page is freed in three steps. First it is marked: it is removed from the page table, but its bytes stay, and a reader
/// that looks it up finds it here again without decrypting it. Then everyone who may still hold it must finish: readers by a
/// grace period, writers by a moment when none is active. Pages not requested meanwhile are zeroed and their memory is freed.
/// When the file outgrows its address space, pages are decrypted anew in a larger one; those in the old space are freed the
/// same way, and can no longer be requested. The number of a forgotten page is soon reused: its memory is zeroed at once, but
/// kept within the budget, since freeing and recommitting it costs more than decrypting a page. Thread-safe. Places of a
/// stripe are loaded and dropped under its lock, which is taken only if the page table says "not yet verified". Decrypted pages
/// plus kept memory stay within the budget, as far as freeing kept memory can achieve that.
/// Invariants. 1. A page number of the current space is a place or a vacancy, never both.
/// 2. Memory outside of all places is zero.
/// </remarks>
internal sealed class DecryptedPages : IDisposable
{
    private const int MinStripes = 8;

    private readonly StoreCipher _cipher;
    private readonly Stripe[] _stripes;
    private readonly uint _proven;
    private readonly Func<long> _budget;
    private PageSpace _space; // changed only while holding the locks of all stripes
    private long _committedPages;
    private long _bytes;
    private long _vacantBytes;
    private int _ticket;

    /// <param name="cipher">Decrypts pages.</param>
    /// <param name="space">The address space to start with.</param>
    /// <param name="proven">The page-table entry of a verified page.</param>
    /// <param name="budget">Returns the current budget in bytes.</param>
    public DecryptedPages(StoreCipher cipher, PageSpace space, uint proven, Func<long> budget)
    {
        _proven = proven;
        _cipher = cipher;
        _space = space;
        _budget = budget;
        _stripes = new Stripe[Math.Max(
            MinStripes, (int)System.Numerics.BitOperations.RoundUpToPowerOf2((uint)Environment.ProcessorCount * 2))];
        for (int i = 0; i < _stripes.Length; i++)
            _stripes[i] = new Stripe(cipher.NewPageCipher());
    }

    /// <summary>Bytes of pages currently decrypted.</summary>
    public long Bytes => Interlocked.Read(ref _bytes);

    /// <summary>The budget in bytes; it shrinks as more pages wait for a checkpoint.</summary>
    public long BudgetBytes => _budget();

    /// <summary>Bytes of memory held: decrypted pages, and zeroed memory kept for reuse.</summary>
    public long HeldBytes => Bytes + Interlocked.Read(ref _vacantBytes);

    /// <summary>Whether decrypted pages exceed the budget.</summary>
    public bool IsOverBudget => Bytes > BudgetBytes;

    /// <summary>Whether the system keeps all of them out of swap.</summary>
    public bool IsLocked { get; private set; } = true;

    /// <summary>Called after a page was loaded, to schedule a sweep: at once over the budget, otherwise later.</summary>
    public Action? OnLoaded { get; set; }

    /// <summary>Commits memory for the pages below a number.</summary>
    public void Commit(long pages)
    {
        if (pages <= _committedPages)
            return;

        Commit(_space.Pages, _committedPages, pages);
        _committedPages = pages;
    }

    /// <summary>
    /// Switches to another space, which is not published yet. Pages in the old space stay readable for those who have found
    /// them, and are dropped by the next sweeps. Must be called by the one writer.
    /// </summary>
    /// <param name="next">The new space.</param>
    /// <param name="publish">Publishes the new space.</param>
    public void MoveTo(PageSpace next, Action publish)
    {
        Debug.Assert(next.Count >= _committedPages, "the next space has room for what this one has");
        Commit(next.Pages, 0, _committedPages);
        int held = 0;
        try
        {
            for (; held < _stripes.Length; held++)
                _stripes[held].Sync.Enter();
            AddressRange before = _space.Pages;
            foreach (Stripe stripe in _stripes)
            {
                GiveBackVacant(stripe, all: true);
                foreach (long number in stripe.Places.Keys)
                    // Marked ones too: they may have been requested again since.
                    CollectionsMarshal.GetValueRefOrNullRef(stripe.Places, number).Ticket = 0;
                stripe.LeaveBehind(before);
            }

            _space = next;
            publish();
        }
        finally
        {
            while (held > 0)
                _stripes[--held].Sync.Exit();
        }
    }

    /// <summary>
    /// Enters a marked or adopted page into the page table and returns its space, or null if it is not decrypted. It cannot
    /// be an earlier page of that number: that was forgotten when the number was freed, and while a page is in scratch nobody
    /// loads its contents from the file.
    /// </summary>
    public PageSpace? TryPublish(long number)
    {
        Stripe stripe = StripeOf(number);
        lock (stripe.Sync)
        {
            if (!stripe.Places.TryGetValue(number, out Place place))
                return null;

            stripe.Places[number] = place with { Ticket = 0 };
            _space.Write(number, _proven);
            return _space;
        }
    }

    /// <summary>
    /// Decrypts a page or run into its place and enters it into the page table; returns the fault, or null. Nothing of a
    /// damaged page is kept.
    /// </summary>
    /// <param name="number">Number of the (first) page.</param>
    /// <param name="sealedPages">The page, or the whole run, as stored in the file.</param>
    /// <param name="space">The space that it is in.</param>
    public string? Load(long number, ReadOnlySpan<byte> sealedPages, out PageSpace space)
    {
        for (int i = 1; i < sealedPages.Length / PageLayout.SizeBytes; i++)
            EndVacancy(number + i); // for good: no page can have a number within this run now

        Stripe stripe = StripeOf(number);
        lock (stripe.Sync)
        {
            space = _space;
            if (stripe.Places.ContainsKey(number))
            {
                CollectionsMarshal.GetValueRefOrNullRef(stripe.Places, number).Ticket = 0; // not null: the key is present
                space.Write(number, _proven);
                return null;
            }

            Debug.Assert(sealedPages.Length > 0 && sealedPages.Length % PageLayout.SizeBytes == 0, "a run is whole pages");
            int pages = sealedPages.Length / PageLayout.SizeBytes;
            Span<byte> plain = space.Span(number * PageLayout.SizeBytes, sealedPages.Length);
            bool isOpen = false;
            try
            {
                if (Open(stripe.Cipher, sealedPages, plain) is { } fault)
                    return fault;

                stripe.Places.Add(number, new Place(pages, 0));
                isOpen = true;
            }
            finally
            {
                if (!isOpen)
                {
                    EndVacancy(stripe, number); // its memory is discarded below
                    Zero(space.Pages, number, pages);
                }
            }

            space.Write(number, _proven);
            Occupy(stripe, number, pages);
        }

        OnGrown(number);
        return null;
    }

    /// <summary>
    /// Keeps a page that a checkpoint is about to write, if the budget allows: a page just changed is likely to be read
    /// again. It enters the page table only by <see cref="TryPublish"/>.
    /// </summary>
    public void Adopt(long number, ReadOnlySpan<byte> plain)
    {
        Debug.Assert(plain.Length == PageLayout.SizeBytes, "only single pages are kept by a checkpoint");
        long budget = BudgetBytes;
        Stripe stripe = StripeOf(number);
        lock (stripe.Sync)
        {
            if (stripe.Places.Remove(number, out Place before))
                // Left by a failed attempt; removed even over the budget, or the page would be published with these bytes.
                Drop(_space.Pages, number, before.Pages);
            if (Bytes > budget - (budget / 8))
                return;

            plain.CopyToFresh(_space.Span(number * PageLayout.SizeBytes, PageLayout.SizeBytes));
            stripe.Places.Add(number, new Place(1, 0));
            Occupy(stripe, number, pages: 1);
        }

        OnGrown(number);
    }

    /// <summary>Returns the fault of a page as stored in the file, or null. Keeps nothing of it.</summary>
    public string? FindFault(ReadOnlySpan<byte> sealedPages)
    {
        var plain = new AlignedBuffer(sealedPages.Length);
        try
        {
            Stripe stripe = StripeOf(0);
            lock (stripe.Sync)
                return Open(stripe.Cipher, sealedPages, plain.Slice(0, sealedPages.Length));
        }
        finally
        {
            plain.Dispose();
        }
    }

    /// <summary>Zeroes a page that nobody can see any more.</summary>
    public void Forget(long number)
    {
        Stripe stripe = StripeOf(number);
        lock (stripe.Sync)
        {
            if (stripe.Places.Remove(number, out Place place))
                Vacate(stripe, number, place.Pages);
            foreach ((AddressRange range, Dictionary<long, Place> places) in stripe.Behind)
                if (places.Remove(number, out place))
                    Drop(range, number, place.Pages);
        }

        FitVacant(number); // pages waiting for a checkpoint may have reduced the budget
    }

    /// <summary>Frees memory kept for reuse: all of it, or only what was already kept at the previous call.</summary>
    public void GiveBackVacant(bool all)
    {
        foreach (Stripe stripe in _stripes)
            lock (stripe.Sync)
                GiveBackVacant(stripe, all);
    }

    /// <summary>
    /// Marks the unmarked pages and removes them from the page table, so that looking one up leads here again. Returns the
    /// ticket to pass to <see cref="Drop(int)"/>, or 0 if there were none.
    /// </summary>
    /// <param name="part">Index of the part of the pages to mark.</param>
    /// <param name="parts">Number of parts.</param>
    public int Mark(int part, int parts)
    {
        Debug.Assert(part >= 0 && part < parts, "one of the parts");
        int ticket = Interlocked.Increment(ref _ticket);
        bool isAny = false;
        for (int i = part; i < _stripes.Length; i += parts)
        {
            Stripe stripe = _stripes[i];
            lock (stripe.Sync)
            {
                foreach (long number in stripe.Places.Keys)
                    if (TryMark(stripe.Places, number, ticket))
                    {
                        if (_space.Find(number) == _proven)
                            _space.Write(number, 0);
                        isAny = true;
                    }

                foreach ((_, Dictionary<long, Place> places) in stripe.Behind)
                    foreach (long number in places.Keys)
                        isAny |= TryMark(places, number, ticket);
            }
        }

        return isAny ? ticket : 0;
    }

    /// <summary>
    /// Zeroes and frees the pages of a ticket that have not been requested since. Nobody may still hold a page read before it
    /// was marked.
    /// </summary>
    public void Drop(int ticket)
    {
        Debug.Assert(ticket != 0, "what is not marked stays");
        foreach (Stripe stripe in _stripes)
        {
            lock (stripe.Sync)
            {
                DropMarked(_space.Pages, stripe.Places, ticket);
                foreach ((AddressRange range, Dictionary<long, Place> places) in stripe.Behind)
                    DropMarked(range, places, ticket);
                stripe.Behind.RemoveAll(static behind => behind.Places.Count == 0);
            }
        }
    }

    /// <summary>Zeroes all pages; nobody may be reading.</summary>
    public void Dispose()
    {
        foreach (Stripe stripe in _stripes)
        {
            DropAll(_space.Pages, stripe.Places);
            foreach ((AddressRange range, Dictionary<long, Place> places) in stripe.Behind)
                DropAll(range, places);
            stripe.Behind.Clear();
            stripe.Cipher.Dispose();
        }
    }

    private void OnGrown(long number)
    {
        FitVacant(number);
        OnLoaded?.Invoke();
    }

    /// <summary>
    /// Frees memory kept for reuse until the budget is met, starting with the stripe of a page number. Must be called without
    /// holding a lock.
    /// </summary>
    private void FitVacant(long number)
    {
        for (int i = 0; i < _stripes.Length; i++)
        {
            long over = Math.Min(HeldBytes - BudgetBytes, Interlocked.Read(ref _vacantBytes));
            if (over <= 0)
                return;

            Stripe stripe = StripeOf(number + i);
            lock (stripe.Sync)
                GiveBackVacant(stripe, all: true, over);
        }
    }

    private Stripe StripeOf(long number) => _stripes[(int)number & (_stripes.Length - 1)];

    private string? Open(PageCipher cipher, ReadOnlySpan<byte> sealedPages, Span<byte> plain)
    {
        sealedPages[..PageLayout.HeaderBytes].CopyTo(plain);
        var page = new Page(plain);
        if (page.Type == PageType.Bitmap)
        {
            sealedPages.CopyTo(plain);
            if (_cipher.TagOfBitmap(plain) != page.Tag)
                return Explain(page, sealedPages, "its tag is not that of its content");
        }
        else if (!cipher.TryOpen(sealedPages, plain))
        {
            return Explain(
                page, sealedPages,
                page.Incarnation == 0 ? "it is not encrypted" : "it does not open with this environment's key");
        }

        return PageShape.FindFault(plain) is { } fault ? $"{fault} (tree {page.TreeId})" : null;
    }

    /// <summary>
    /// Distinguishes a failing disk from a file that was tampered with: anyone can compute the checksum, but not the tag.
    /// </summary>
    private static string Explain(Page page, ReadOnlySpan<byte> sealedPages, string what)
    {
        uint expected = Page.ComputeChecksum(sealedPages);
        return page.Checksum != expected
            ? $"checksum {page.Checksum:x8} found, {expected:x8} computed (tree {page.TreeId})"
            : $"{what} though its checksum is right (tree {page.TreeId}): someone without the key made or changed it, or put it "
                + $"here from elsewhere";
    }

    private void Commit(AddressRange range, long from, long to)
    {
        long offset = from * PageLayout.SizeBytes, length = (to - from) * PageLayout.SizeBytes;
        range.Commit(offset, length);
        range.ExcludeFromDumps(offset, length);
        IsLocked = IsLocked && range.TryLock(offset, length);
    }

    private static bool TryMark(Dictionary<long, Place> places, long number, int ticket)
    {
        ref Place place = ref CollectionsMarshal.GetValueRefOrNullRef(places, number);
        if (place.Ticket != 0)
            return false;

        place.Ticket = ticket;
        return true;
    }

    private void DropMarked(AddressRange range, Dictionary<long, Place> places, int ticket)
    {
        foreach ((long number, Place place) in places)
        {
            if (place.Ticket != ticket)
                continue;

            places.Remove(number); // allowed during enumeration
            Drop(range, number, place.Pages);
        }
    }

    /// <summary>Zeroes all pages. Their memory is freed with the address range, so no system call per page is needed.</summary>
    private void DropAll(AddressRange range, Dictionary<long, Place> places)
    {
        foreach ((long number, Place place) in places)
        {
            range.Span(number * PageLayout.SizeBytes, place.Pages * PageLayout.SizeBytes).Clear();
            Interlocked.Add(ref _bytes, -(long)place.Pages * PageLayout.SizeBytes);
        }

        places.Clear();
    }

    /// <summary>Zeroes a place and frees its memory.</summary>
    private void Drop(AddressRange range, long number, int pages)
    {
        Debug.Assert(pages > 0, "a run has pages");
        Zero(range, number, pages);
        Interlocked.Add(ref _bytes, -(long)pages * PageLayout.SizeBytes);
        Debug.Assert(Bytes >= 0, "the bytes of places are counted once");
    }

    /// <summary>Accounts for a new place.</summary>
    private void Occupy(Stripe stripe, long number, int pages)
    {
        Debug.Assert(stripe.Places.ContainsKey(number), "1: a number that is occupied is a place");
        EndVacancy(stripe, number);
        Interlocked.Add(ref _bytes, (long)pages * PageLayout.SizeBytes);
    }

    private void EndVacancy(long number)
    {
        Stripe stripe = StripeOf(number);
        lock (stripe.Sync)
            EndVacancy(stripe, number);
    }

    private void EndVacancy(Stripe stripe, long number)
    {
        Debug.Assert(stripe.Sync.IsHeldByCurrentThread, "1: a vacancy ends under the lock of its stripe");
        if (stripe.Vacant.Remove(number))
            Interlocked.Add(ref _vacantBytes, -PageLayout.SizeBytes);
    }

    /// <summary>Zeroes a place; keeps its memory if the budget allows, since its number will be reused soon.</summary>
    private void Vacate(Stripe stripe, long number, int pages)
    {
        Debug.Assert(stripe.Sync.IsHeldByCurrentThread, "1: a place becomes a vacancy under the lock of its stripe");
        if (pages > 1 || HeldBytes > BudgetBytes)
        {
            Drop(_space.Pages, number, pages);
            return;
        }

        _space.Span(number * PageLayout.SizeBytes, PageLayout.SizeBytes).Clear();
        Interlocked.Add(ref _bytes, -PageLayout.SizeBytes);
        bool isNew = stripe.Vacant.TryAdd(number, false);
        Debug.Assert(isNew, "1: a number is a place or a vacancy");
        Interlocked.Add(ref _vacantBytes, PageLayout.SizeBytes);
    }

    private void GiveBackVacant(Stripe stripe, bool all, long atLeastBytes = long.MaxValue)
    {
        Debug.Assert(stripe.Sync.IsHeldByCurrentThread, "1: vacancies are given back under the lock of their stripe");
        foreach ((long number, bool isOld) in stripe.Vacant)
        {
            if (atLeastBytes <= 0)
                return;

            if (!all && !isOld)
            {
                CollectionsMarshal.GetValueRefOrNullRef(stripe.Vacant, number) = true;
                continue;
            }

            atLeastBytes -= PageLayout.SizeBytes;
            stripe.Vacant.Remove(number); // allowed during enumeration
            _space.Pages.DiscardLocked(number * PageLayout.SizeBytes, PageLayout.SizeBytes);
            Interlocked.Add(ref _vacantBytes, -PageLayout.SizeBytes);
        }
    }

    private static void Zero(AddressRange range, long number, int pages)
    {
        long offset = number * PageLayout.SizeBytes, length = (long)pages * PageLayout.SizeBytes;
        range.Span(offset, (int)length).Clear();
        range.DiscardLocked(offset, length);
    }

    private sealed class Stripe(PageCipher cipher)
    {
        public Lock Sync { get; } = new();

        public PageCipher Cipher { get; } = cipher;

        /// <summary>Decrypted pages and runs, by (first) page number.</summary>
        public Dictionary<long, Place> Places { get; private set; } = [];

        /// <summary>Zeroed single-page places that keep their memory, and whether a previous sweep has seen them.</summary>
        public Dictionary<long, bool> Vacant { get; } = [];

        /// <summary>Decrypted pages in earlier spaces.</summary>
        public List<(AddressRange Range, Dictionary<long, Place> Places)> Behind { get; } = [];

        /// <summary>Starts over for a new space, keeping track of the pages in the old one.</summary>
        public void LeaveBehind(AddressRange range)
        {
            if (Places.Count == 0)
                return;

            Behind.Add((range, Places));
            Places = [];
        }
    }

    /// <summary>Number of pages of the run, and the ticket it may be dropped by; 0 if it is not marked.</summary>
    private record struct Place(int Pages, int Ticket);
}
