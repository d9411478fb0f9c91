using Treepie.Storage.Format;

namespace Treepie.Storage.Paging;

/// <summary>
/// Takes back what the page table says of proven pages: of those that are damaged on the disk, and of those that the system has
/// put out of memory. What the disk delivers for these the next time was never looked at, so the next reader proves it again.
/// That reader asks for the page by a call, too, and gets an error number where the disk cannot deliver it; a plain touch of the
/// address would end the process.
/// </summary>
/// <param name="space">Where pages are looked for now.</param>
/// <param name="isReadInMap">Whether readers read the map itself, which the system may put out of memory.</param>
/// <param name="proven">What the page table says of a page that was proven; 0 is one that nobody has looked at.</param>
internal sealed class PageProofs(Func<PageSpace> space, bool isReadInMap, uint proven)
{
    private const int WindowPages = 2048;

    private long _withdrawn;

    /// <summary>Pages that were found damaged on the disk after they had been proven.</summary>
    public DamagedPages Damaged { get; } = new();

    /// <summary>Whether the system tells which pages it has put out of memory.</summary>
    public bool TellsEvicted => isReadInMap && space().Map.TellsResident;

    /// <summary>Proofs that <see cref="WithdrawEvicted"/> has withdrawn.</summary>
    public long Withdrawn => Interlocked.Read(ref _withdrawn);

    /// <summary>
    /// Makes a page of the file an error for who reads it from now on, whatever memory still has of it. Holding the write lock.
    /// </summary>
    public void MarkDamaged(long number, string fault)
    {
        Damaged.Add(number, fault);
        Interlocked.MemoryBarrier(); // who proves it meanwhile sees the fault afterwards, or has written what this overwrites
        space().Write(number, 0);
    }

    /// <summary>What was found wrong with a page that its reader has just proven; the proof is withdrawn then.</summary>
    public string? FindDamageSinceProof(long number)
    {
        Interlocked.MemoryBarrier(); // see MarkDamaged
        string? fault = Damaged.Find(number);
        if (fault is not null)
            space().Write(number, 0);
        return fault;
    }

    /// <summary>Goes through the pages of the file, beside readers and writers.</summary>
    public void WithdrawEvicted(long pages)
    {
        // Whether a page of the run that an earlier page may begin is out of memory: only its first page is in the table.
        bool isTailOut = false;
        PageSpace now = space();
        pages = Math.Min(pages, now.Count);
        Span<byte> resident = stackalloc byte[WindowPages];
        for (long first = (pages - 1) / WindowPages * WindowPages; first >= 0 && pages > 0 && isReadInMap; first -= WindowPages)
        {
            int count = (int)Math.Min(WindowPages, pages - first);
            if (!now.Map.TryFindResident(first * PageLayout.SizeBytes, resident[..count]))
                return;

            for (int i = count - 1; i >= 0; i--)
            {
                uint entry = now.Find(first + i);
                bool isOut = resident[i] == 0 || isTailOut;
                if (entry == proven && isOut && now.TryExchange(first + i, proven, 0))
                    Interlocked.Increment(ref _withdrawn);
                isTailOut = entry == 0 && isOut;
            }
        }
    }
}
