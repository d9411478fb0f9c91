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
/// can ask for them again. Thread-safe. Places of one stripe are loaded and dropped under its lock, which is taken where the page
/// table says "not looked at" only.
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
                foreach ((long number, Place place) in stripe.Places)
                    // also one that was marked: it may have been asked for again since
                    stripe.Left.Add(new LeftPlace(before, number, place with { Ticket = 0 }));
                stripe.Places.Clear();
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
        Stripe stripe = StripeOf(number);
        lock (stripe.Sync)
        {
            space = _space;
            ref Place place = ref CollectionsMarshal.GetValueRefOrAddDefault(stripe.Places, number, out bool isThere);
            if (isThere)
            {
                place.Ticket = 0;
                space.Write(number, _proven);
                return null;
            }

            Debug.Assert(sealedPages.Length > 0 && sealedPages.Length % PageLayout.SizeBytes == 0, "a run is whole pages");
            Span<byte> plain = space.Span(number * PageLayout.SizeBytes, sealedPages.Length);
            if (Open(stripe.Cipher, sealedPages, plain) is { } fault)
            {
                stripe.Places.Remove(number);
                Zero(space.Pages, number, sealedPages.Length / PageLayout.SizeBytes);
                return fault;
            }

            place = new Place(sealedPages.Length / PageLayout.SizeBytes, 0);
            space.Write(number, _proven);
        }

        Interlocked.Add(ref _bytes, sealedPages.Length);
        OnLoaded?.Invoke();
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

            plain.CopyTo(_space.Span(number * PageLayout.SizeBytes, PageLayout.SizeBytes));
            stripe.Places.Add(number, new Place(1, 0));
        }

        Interlocked.Add(ref _bytes, PageLayout.SizeBytes);
        OnLoaded?.Invoke();
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
                Drop(_space.Pages, number, place.Pages);
            if (stripe.Left.Count > 0)
                DropLeft(stripe, left => left.Number == number);
        }
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
                {
                    ref Place place = ref CollectionsMarshal.GetValueRefOrNullRef(stripe.Places, number);
                    if (place.Ticket != 0)
                        continue;

                    place.Ticket = ticket;
                    if (_space.Find(number) == _proven)
                        _space.Write(number, 0);
                    isAny = true;
                }

                foreach (ref LeftPlace left in CollectionsMarshal.AsSpan(stripe.Left))
                {
                    isAny |= left.Place.Ticket == 0;
                    left.Place.Ticket = left.Place.Ticket == 0 ? ticket : left.Place.Ticket;
                }
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
                foreach ((long number, Place place) in stripe.Places)
                {
                    if (place.Ticket != ticket)
                        continue;

                    stripe.Places.Remove(number); // allowed while it is enumerated
                    Drop(_space.Pages, number, place.Pages);
                }

                DropLeft(stripe, left => left.Place.Ticket == ticket);
            }
        }
    }

    /// <summary>Zeroes all; nobody may read any more.</summary>
    public void Dispose()
    {
        foreach (Stripe stripe in _stripes)
        {
            foreach ((long number, Place place) in stripe.Places)
                Drop(_space.Pages, number, place.Pages);
            stripe.Places.Clear();
            DropLeft(stripe, static _ => true);
            stripe.Cipher.Dispose();
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

    private void DropLeft(Stripe stripe, Predicate<LeftPlace> isOver) => stripe.Left.RemoveAll(left =>
    {
        if (!isOver(left))
            return false;

        Drop(left.Range, left.Number, left.Place.Pages);
        return true;
    });

    private void Drop(AddressRange range, long number, int pages)
    {
        Debug.Assert(pages > 0, "a run has pages");
        Zero(range, number, pages);
        Interlocked.Add(ref _bytes, -(long)pages * PageLayout.SizeBytes);
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
        public Dictionary<long, Place> Places { get; } = [];

        /// <summary>Those of spaces before.</summary>
        public List<LeftPlace> Left { get; } = [];
    }

    /// <summary>Pages of the run; and the ticket it may be dropped by, 0 where it is in the page table.</summary>
    private record struct Place(int Pages, int Ticket);

    /// <summary>A page of a space before.</summary>
    private struct LeftPlace(AddressRange range, long number, Place place)
    {
        public readonly AddressRange Range = range;
        public readonly long Number = number;
        public Place Place = place;
    }
}
