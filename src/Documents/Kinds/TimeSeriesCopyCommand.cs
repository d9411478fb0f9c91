using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Copies the entries of a range of a time series to another, in parts: they replace those at the same times.
/// </summary>
/// <param name="source">The source: id as given, folded id, name.</param>
/// <param name="destination">The destination, in the same form, with the name in UTF-8.</param>
/// <param name="from">The first time.</param>
/// <param name="to">The last time.</param>
internal sealed class TimeSeriesCopyCommand(
    (string Id, byte[] FoldedId, string Name) source, (string Id, byte[] FoldedId, byte[] Name) destination, DateTime from,
    DateTime to)
    : KindCommand
{
    /// <summary>The number of entries that are in memory at once.</summary>
    private const int EntriesPerPart = 10_000;

    public override KindResult Apply(IKindHost host)
    {
        Require(host, source.FoldedId, source.Id);
        Require(host, destination.FoldedId, destination.Id);
        DateTime at = from; // the command may run again, from the beginning
        while (true)
        {
            List<TimeSeriesPoint> points =
                [.. host.Kinds.Items.TimeSeries(source.FoldedId, source.Name, at, to).Take(EntriesPerPart)];
            var result = (TimeSeriesResult)new TimeSeriesCommand(
                destination.Id, destination.FoldedId, destination.Name, points, isIncrement: false, []).Apply(host);
            if (points.Count < EntriesPerPart || points[^1].Timestamp >= to)
                return result with { IsCopy = true };
            at = points[^1].Timestamp.AddTicks(1);
        }
    }

    private static void Require(IKindHost host, byte[] foldedId, string id)
    {
        if (!host.TryGet(foldedId, out DocumentRecord _))
            throw new DocumentNotFoundException(id, "has no time series");
    }
}
