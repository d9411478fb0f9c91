using Treepie.Storage.Format;

namespace Treepie.Storage.Paging;

/// <summary>
/// Withdraws the verified state of pages in the page table: of those damaged on disk, and of those that the system has
/// evicted from memory. What the disk returns for them next has not been verified, so their next reader verifies it again.
/// That reader also loads the page by a system call and gets an error code if the disk cannot deliver it, where plainly
/// touching the address would end the process.
/// </summary>
/// <param name="space">Returns the current address space.</param>
/// <param name="isReadInMap">Whether readers read the map itself, which the system may evict from memory.</param>
/// <param name="proven">The page-table entry of a verified page; 0 is a page not verified yet.</param>
internal sealed class PageProofs(Func<PageSpace> space, bool isReadInMap, uint proven)
{
    private const int WindowPages = 2048;

    private long _withdrawn;

    /// <summary>Pages found damaged on disk after they had been verified.</summary>
    public DamagedPages Damaged { get; } = new();

    /// <summary>Whether the system reports which pages it has evicted from memory.</summary>
    public bool TellsEvicted => isReadInMap && space().Map.TellsResident;

    /// <summary>Number of pages whose verified state <see cref="WithdrawEvicted"/> has withdrawn.</summary>
    public long Withdrawn => Interlocked.Read(ref _withdrawn);

    /// <summary>
    /// Makes later reads of a page of the file fail, whatever memory still has of it. Must be called under the write lock.
    /// </summary>
    public void MarkDamaged(long number, string fault)
    {
        Damaged.Add(number, fault);
        Interlocked.MemoryBarrier(); // a concurrent verifier then sees the fault, or its entry is overwritten here
        space().Write(number, 0);
    }

    /// <summary>Called after verifying a page: returns its recorded fault, if any, and withdraws the verification.</summary>
    public string? FindDamageSinceProof(long number)
    {
        Interlocked.MemoryBarrier(); // see MarkDamaged
        string? fault = Damaged.Find(number);
        if (fault is not null)
            space().Write(number, 0);
        return fault;
    }

    /// <summary>Goes through the pages of the file, concurrently with readers and writers.</summary>
    public void WithdrawEvicted(long pages)
    {
        // Whether a later page of a run is evicted. Runs backwards, because only the first page of a run is in the table.
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
