using Treepie.Storage.Format;

namespace Treepie.Storage.Trees;

/// <summary>Selects the pages to relocate.</summary>
/// <param name="From">Lowest page number to relocate.</param>
/// <param name="BornUpTo">Latest birth transaction of pages to relocate; 0 for no pages.</param>
internal readonly record struct MoveChoice(long From, long BornUpTo)
{
    public bool IsNone => BornUpTo == 0;

    public bool Includes(PageReference page) => page.Number >= From && page.Birth <= BornUpTo;
}
