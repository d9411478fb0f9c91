using Treepie.Indexing.Queries;

namespace Treepie.Queries.Sorters;

/// <summary>The order of a sorter, with the code that defines it.</summary>
internal sealed class DefinedOrder(ICustomOrder order, string code) : ICustomOrder
{
    public string Name => order.Name;

    public string Code => code;

    public int WriteKey(SortValue value, Span<byte> key) => order.WriteKey(value, key);
}
