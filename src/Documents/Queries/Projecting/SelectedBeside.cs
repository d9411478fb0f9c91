using System.Buffers;
using System.Globalization;
using System.Text;
using Treepie.Kinds;
using Treepie.Queries.TimeSeries;
using Treepie.Store;

namespace Treepie.Queries.Projecting;

/// <summary>A value of a projection that is stored outside the document. Immutable.</summary>
internal abstract class SelectedBeside
{
    /// <summary>Writes the value as JSON, or null if it does not exist.</summary>
    public abstract void Write(RowValues row, IBufferWriter<byte> output);

    /// <summary>Returns the folded id of the owning document, or null if there is none.</summary>
    /// <param name="owner">The value that is its id, or null for the document of the result.</param>
    /// <param name="row">The result.</param>
    protected static byte[]? OwnerOf(ProjectedField? owner, RowValues row) =>
        owner is null ? CollectionName.Fold(row.Source.Id) : row.FoldedId(owner);
}

/// <summary><c>counter('Likes')</c></summary>
internal sealed class SelectedCounter(ProjectedField? owner, string name) : SelectedBeside
{
    public override void Write(RowValues row, IBufferWriter<byte> output)
    {
        long? value = OwnerOf(owner, row) is { } folded
            && row.Snapshot.Kinds.TryGet(
                KindKey.Of(Kind.Counter, folded, CollectionName.Fold(name)), out KindRecord record)
            ? CounterValue.Sum(record.Value)
            : null;
        output.Write(Encoding.UTF8.GetBytes(value?.ToString(CultureInfo.InvariantCulture) ?? "null"));
    }
}

/// <summary><c>cmpxchg('key')</c></summary>
internal sealed class SelectedCompareExchange(string key) : SelectedBeside
{
    public override void Write(RowValues row, IBufferWriter<byte> output) =>
        output.Write(row.Snapshot.CompareExchange(key)?.Held() ?? "null"u8.ToArray());
}

/// <summary><c>timeseries(from …)</c></summary>
internal sealed class SelectedTimeSeries(ProjectedField? owner, SeriesQuery query) : SelectedBeside
{
    public override void Write(RowValues row, IBufferWriter<byte> output)
    {
        if (OwnerOf(owner, row) is { } folded)
            query.Write(SeriesSource.Of(row.Snapshot), folded, output, CancellationToken.None);
        else
            output.Write("{\"Count\":0,\"Results\":[]}"u8);
    }

    /// <summary>Writes what the time series of another document comes to.</summary>
    public void Write(byte[] foldedId, SeriesSource source, IBufferWriter<byte> output, CancellationToken cancellationToken) =>
        query.Write(source, foldedId, output, cancellationToken);
}
