using System.Buffers;
using System.Globalization;
using System.Text;
using Treepie.Kinds;
using Treepie.Queries.Sources;
using Treepie.Queries.TimeSeries;
using Treepie.Store;

namespace Treepie.Queries.Projecting;

/// <summary>A value of a projection that is stored outside the document. Immutable.</summary>
internal abstract class SelectedBeside
{
    /// <summary>Writes the value as JSON, or null if it does not exist.</summary>
    public abstract void Write(ResultSource source, DatabaseSnapshot snapshot, IBufferWriter<byte> output);
}

/// <summary><c>counter('Likes')</c></summary>
internal sealed class SelectedCounter(BesideOwner owner, string name) : SelectedBeside
{
    public override void Write(ResultSource source, DatabaseSnapshot snapshot, IBufferWriter<byte> output)
    {
        long? value = owner.FoldedId(source) is { } folded
            && snapshot.Kinds.TryGet(
                KindKey.Of(Kind.Counter, folded, CollectionName.Fold(name)), out KindRecord record)
            ? CounterValue.Sum(record.Value)
            : null;
        output.Write(Encoding.UTF8.GetBytes(value?.ToString(CultureInfo.InvariantCulture) ?? "null"));
    }
}

/// <summary><c>cmpxchg('key')</c></summary>
internal sealed class SelectedCompareExchange(string key) : SelectedBeside
{
    public override void Write(ResultSource source, DatabaseSnapshot snapshot, IBufferWriter<byte> output) =>
        output.Write(snapshot.CompareExchange(key)?.Held() ?? "null"u8.ToArray());
}

/// <summary><c>timeseries(from …)</c></summary>
internal sealed class SelectedTimeSeries(BesideOwner owner, SeriesQuery query) : SelectedBeside
{
    public override void Write(ResultSource source, DatabaseSnapshot snapshot, IBufferWriter<byte> output)
    {
        if (owner.FoldedId(source) is { } folded)
            query.Write(snapshot, folded, output, CancellationToken.None);
        else
            output.Write("{\"Count\":0,\"Results\":[]}"u8);
    }

    /// <summary>Writes what the time series of another document comes to.</summary>
    public void Write(string id, DatabaseSnapshot snapshot, IBufferWriter<byte> output, CancellationToken cancellationToken) =>
        query.Write(snapshot, CollectionName.Fold(id), output, cancellationToken);
}
