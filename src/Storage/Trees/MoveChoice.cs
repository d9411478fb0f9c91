using Treepie.Storage.Format;

namespace Treepie.Storage.Trees;

/// <summary>Which pages are to be moved.</summary>
/// <param name="From">Pages from this number on,</param>
/// <param name="BornUpTo">born up to this transaction; 0 for none.</param>
internal readonly record struct MoveChoice(long From, long BornUpTo)
{
    public bool IsNone => BornUpTo == 0;

    public bool Includes(PageReference page) => page.Number >= From && page.Birth <= BornUpTo;
}
