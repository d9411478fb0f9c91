using System.Numerics;
using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Maps;

/// <summary>
/// A position in the chain of pages of a bucket. Every walk along a chain uses it, so none is endless: if a damaged chain
/// leads back into itself, <see cref="MoveTo"/> throws.
/// </summary>
/// <remarks>
/// Allocation-free (Brent's algorithm): each page is compared with the one visited last at a power of two, so a cycle is
/// noticed before its pages are visited four times.
/// </remarks>
internal struct BucketChain(PageStore store, PageReference first)
{
    private long _marked = first.Number;
    private int _place;

    /// <summary>The current page, or none at the end.</summary>
    public PageReference Reference { get; private set; } = first;

    /// <summary>Whether no page is left.</summary>
    public readonly bool IsEnd => Reference.IsNone;

    /// <summary>Reads the current page.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly BucketPage Read(BucketLayout layout) => MapReader.ReadBucket(store, Reference, layout);

    /// <summary>Moves to the page that the current one refers to, or to the end.</summary>
    /// <exception cref="CorruptionException">The chain leads back into itself.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void MoveTo(PageReference next)
    {
        Reference = next;
        if (next.IsNone)
            return;

        if (next.Number == _marked)
            ThrowCycle(store, next.Number);
        if (BitOperations.IsPow2(++_place))
            _marked = next.Number;
    }

    /// <summary>Replaces the current page by its copy. A chain that leads back to the original is still noticed.</summary>
    public void ReplaceBy(PageReference copy) => Reference = copy;

    private static void ThrowCycle(PageStore store, long number) =>
        throw store.Corrupt(number, "the chain of its bucket leads back to it");
}
