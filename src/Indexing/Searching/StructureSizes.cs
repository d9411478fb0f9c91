using System.Globalization;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Matching.Views;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Searching;

/// <summary>Says where the bytes of an index are. Reads every page of it once.</summary>
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

    /// <summary>Takes the field's number out of the name of a tree: <c>terms.3.postings</c>.</summary>
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
