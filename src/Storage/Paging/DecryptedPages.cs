using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Storage.Encryption;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Paging;

/// <summary>
/// The pages of an encrypted file that are in use, decrypted: a second stretch of address space as long as the map of the file,
/// in which each page has the place it has there. So a reader finds a decrypted page as it finds a plain one, by one load of the
/// page table; what encryption costs is paid where a page is touched for the first time, and once for all who read it.
/// </summary>
/// <remarks>
/// A page goes in three steps. It is marked: the page table does not name it any more, but its bytes stay, and whoever looks for
/// it finds it again here without decrypting it. Then everyone who may hold it from before must have ended: readers by a grace
/// period, writers by a moment at which none is at work. What nobody asked for meanwhile is zeroed and given back. When the file
/// grows over the space it has, pages are decrypted anew in a larger one: those of the space before go the same way, and nobody
/// can ask for them again. The number of a page that is forgotten is soon given to another one: its memory is zeroed at once, but
/// kept while there is room for it, since giving it back and taking it again costs more than decrypting a page. Thread-safe.
/// Places of one stripe are loaded and dropped under its lock, which is taken where the page table says "not looked at" only.
/// Decrypted pages and the memory that is kept are within the budget together, as far as the latter can go.
/// Invariants. 1. A number of the space in use lies in a place or is a vacancy, never both.
/// 2. What is no place in any space is zero.
/// </remarks>
internal sealed class DecryptedPages : IDisposable
{
    private const int MinStripes = 8;

    private readonly StoreCipher _cipher;
    private readonly Stripe[] _stripes;
    private readonly uint _proven;
    private readonly Func<long> _budget;
    private PageSpace _space; // changed under the locks of all stripes
    private long _committedPages;
    private long _bytes;
    private long _vacantBytes;
    private int _ticket;

    /// <param name="cipher">Opens pages.</param>
    /// <param name="space">Where they are looked for.</param>
    /// <param name="proven">What the page table says of a page that was proven.</param>
    /// <param name="budget">Bytes from which on there are too many, now.</param>
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

    /// <summary>Bytes decrypted now.</summary>
    public long Bytes => Interlocked.Read(ref _bytes);

    /// <summary>Bytes from which on there are too many: the less the more pages wait for a checkpoint.</summary>
    public long BudgetBytes => _budget();

    /// <summary>Bytes of memory they take: decrypted, or zeroed and kept.</summary>
    public long HeldBytes => Bytes + Interlocked.Read(ref _vacantBytes);

    /// <summary>Whether there are more than the budget.</summary>
    public bool IsOverBudget => Bytes > BudgetBytes;

    /// <summary>Whether the system keeps them out of swap.</summary>
    public bool IsLocked { get; private set; } = true;

    /// <summary>
    /// Called after a page was loaded: what is decrypted has to be swept some time, at once where it is over the budget.
    /// </summary>
    public Action? OnLoaded { get; set; }

    /// <summary>Makes places for the pages up to a number.</summary>
    public void Commit(long pages)
    {
        if (pages <= _committedPages)
            return;

        Commit(_space.Pages, _committedPages, pages);
        _committedPages = pages;
    }

    /// <summary>
    /// Goes on in another space, which nobody knows yet. What is decrypted stays readable for who has found it, and goes with the
    /// next sweeps. By the one writer.
    /// </summary>
    /// <param name="next">The space.</param>
    /// <param name="publish">Has everyone look there from now on.</param>
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
                    // also one that was marked: it may have been asked for again since
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
    /// Names a page in the page table that was marked, or adopted, and gives the space it lies in; null where it is not
    /// decrypted. Of what lay at this number before nothing is left then: it was forgotten when the number was given free, and
    /// while the page is in scratch nobody loads what the file has there.
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
    /// Brings a page, or a run, to its place and names it in the page table; returns what is wrong with it, or null. Nothing is
    /// kept of one that is wrong.
    /// </summary>
    /// <param name="number">Its number.</param>
    /// <param name="sealedPages">As it lies in the file, the whole run.</param>
    /// <param name="space">Where it lies now.</param>
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
                CollectionsMarshal.GetValueRefOrNullRef(stripe.Places, number).Ticket = 0; // it is there
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
                    EndVacancy(stripe, number); // its memory goes, too
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
    /// Keeps a page that a checkpoint is about to have written, while there is room: who changed it is likely to read it again.
    /// It is not in the page table before <see cref="TryPublish"/>.
    /// </summary>
    public void Adopt(long number, ReadOnlySpan<byte> plain)
    {
        long budget = BudgetBytes;
        Stripe stripe = StripeOf(number);
        lock (stripe.Sync)
        {
            if (stripe.Places.Remove(number, out Place before))
                // of an attempt that failed; over the budget too, or the page would be published with these bytes
                Drop(_space.Pages, number, before.Pages);
            if (Bytes > budget - (budget / 8))
                return;

            plain.CopyToFresh(_space.Span(number * PageLayout.SizeBytes, PageLayout.SizeBytes));
            stripe.Places.Add(number, new Place(1, 0));
            Occupy(stripe, number, pages: 1);
        }

        OnGrown(number);
    }

    /// <summary>What is wrong with a page as it lies in the file, or null; nothing of it is kept.</summary>
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

        FitVacant(number); // what waits for a checkpoint may have taken of the budget since
    }

    /// <summary>
    /// Gives back the memory that is kept for pages to come: all of it, or what was kept at the last call already.
    /// </summary>
    public void GiveBackVacant(bool all)
    {
        foreach (Stripe stripe in _stripes)
            lock (stripe.Sync)
                GiveBackVacant(stripe, all);
    }

    /// <summary>
    /// Takes the pages that are not marked out of the page table, so that who looks for one comes by here again; returns the
    /// ticket to drop them by, or 0 where there was none.
    /// </summary>
    /// <param name="part">Which part of them.</param>
    /// <param name="parts">Of how many.</param>
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
    /// Zeroes the pages of a ticket that nobody has asked for since. Nobody may hold what was read before they were marked.
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

    /// <summary>Zeroes all; nobody may read any more.</summary>
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
    /// Gives back as much of the memory that is kept for pages to come as is over the budget, from the stripe of a number on.
    /// Without a lock.
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
    /// A disk that fails is told from someone who changed the file: the checksum can be computed by anyone, the tag cannot.
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

            places.Remove(number); // allowed while it is enumerated
            Drop(range, number, place.Pages);
        }
    }

    private void DropAll(AddressRange range, Dictionary<long, Place> places)
    {
        foreach ((long number, Place place) in places)
            Drop(range, number, place.Pages);
        places.Clear();
    }

    /// <summary>Zeroes a place and gives its memory back.</summary>
    private void Drop(AddressRange range, long number, int pages)
    {
        Debug.Assert(pages > 0, "a run has pages");
        Zero(range, number, pages);
        Interlocked.Add(ref _bytes, -(long)pages * PageLayout.SizeBytes);
    }

    /// <summary>Counts a new place.</summary>
    private void Occupy(Stripe stripe, long number, int pages)
    {
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
        if (stripe.Vacant.Remove(number))
            Interlocked.Add(ref _vacantBytes, -PageLayout.SizeBytes);
    }

    /// <summary>Zeroes a place; its memory stays while there is room, since its number is used again soon.</summary>
    private void Vacate(Stripe stripe, long number, int pages)
    {
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
            stripe.Vacant.Remove(number); // allowed while it is enumerated
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

        /// <summary>Pages, or first pages of runs, that are decrypted.</summary>
        public Dictionary<long, Place> Places { get; private set; } = [];

        /// <summary>Places of one page that are zero and keep their memory, and whether they have for a while.</summary>
        public Dictionary<long, bool> Vacant { get; } = [];

        /// <summary>What is decrypted in the spaces before.</summary>
        public List<(AddressRange Range, Dictionary<long, Place> Places)> Behind { get; } = [];

        /// <summary>Begins in another space.</summary>
        public void LeaveBehind(AddressRange range)
        {
            if (Places.Count == 0)
                return;

            Behind.Add((range, Places));
            Places = [];
        }
    }

    /// <summary>Pages of the run; and the ticket it may be dropped by, 0 where it is in the page table.</summary>
    private record struct Place(int Pages, int Ticket);
}
