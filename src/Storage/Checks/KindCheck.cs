using Treepie.Storage.Format;

namespace Treepie.Storage.Checks;

/// <summary>Walks every entry of a catalogue with the check for its kind.</summary>
internal sealed class KindCheck(CheckContext context)
{
    private readonly TreeCheck _trees = new(context);
    private readonly MapCheck _maps = new(context);

    /// <summary>Walks the catalogue, all its entries and the system tree.</summary>
    public void RunAll(TreeRecord catalogue, TreeRecord system)
    {
        _trees.Run("(catalogue)", catalogue);
        var named = new List<(string Name, TreeRecord? Record)>();
        // The walk of the catalogue has already reported lost pages.
        NamedTrees.Read(
            context.Store, catalogue, new PageSet(context.Seen.Bound), (name, record) => named.Add((name, record)),
            static _ => { }, context.Cancellation);
        foreach ((string name, TreeRecord? record) in named)
            Run(name, record);
        _trees.Run("(system)", system);
    }

    private void Run(string name, TreeRecord? record)
    {
        ITreeCheck? check = record?.Kind switch { TreeKind.Tree => _trees, TreeKind.Map => _maps, _ => null };
        if (check is null || record is null)
            context.Report(
                record is { Kind: var kind }
                    ? $"It is of kind {(int)kind}, which this program does not know."
                    : "Its record in the catalogue is invalid.",
                name);
        else
            check.Run(name, record.Value);
    }
}
