using System.Globalization;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching.Views;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Searching;

/// <summary>Measures how much space each structure of an index takes. Reads every page once.</summary>
internal static class StructureSizes
{
    public static List<IndexStructureSize> Of(ReadTransaction transaction, IndexView view, CancellationToken cancellationToken)
    {
        var sizes = new List<IndexStructureSize>();
        foreach (string name in transaction.TreeNames)
        {
            if (view.Tree(name) is not { } tree)
                continue;
            TreeSize size = tree.Measure(cancellationToken);
            if (size.Pages == 0)
                continue;
            (string structure, string? field) = Parse(view, name);
            sizes.Add(new IndexStructureSize(structure, field, size.SizeBytes, size.UsedBytes, size.Keys));
        }

        sizes.Sort(static (x, y) => y.SizeBytes.CompareTo(x.SizeBytes));
        return sizes;
    }

    /// <summary>Splits a tree name into structure and field number, as in <c>terms.3.postings</c>.</summary>
    private static (string Structure, string? Field) Parse(IndexView view, string name)
    {
        string[] parts = name.Split('.');
        return parts.Length > 1
            && parts[0] != TreeNames.CompoundStructure
            && int.TryParse(parts[1], NumberStyles.None, CultureInfo.InvariantCulture, out int field)
            && field < view.Schema.Fields.Count
            ? (string.Join('.', parts.Where((_, i) => i != 1)), view.Schema.Fields[field].Name)
            : (name, null);
    }
}
