using Treepie.Storage.Format;

namespace Treepie.Storage.Trees;

/// <summary>Which pages are to be written again elsewhere.</summary>
/// <param name="From">Those at this page or beyond,</param>
/// <param name="BornUpTo">and born up to this transaction. 0: none.</param>
internal readonly record struct MoveChoice(long From, long BornUpTo)
{
    public bool IsNone => BornUpTo == 0;

    public bool Includes(PageReference page) => page.Number >= From && page.Birth <= BornUpTo;
}
