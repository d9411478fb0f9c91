using System.Text;
using Treepie.Json;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Lifecycle;

/// <summary>
/// Processes the documents, or compare-exchange values, that are due for an action, oldest first, in steps that block writers
/// for a few milliseconds.
/// </summary>
internal sealed class DueRun(IWriteHost host, DueAction action)
{
    /// <summary>
    /// The number of documents per step: about 20 µs each, so that a step normally ends long before <see cref="_stepTime"/>.
    /// </summary>
    private const int DocumentsPerStep = 64;

    /// <summary>
    /// The time after which a step ends with the current document, in case of large documents or ones with much attached
    /// data.
    /// </summary>
    private static readonly TimeSpan _stepTime = TimeSpan.FromMilliseconds(5);

    /// <summary>Processes at most the specified number of documents; returns their number.</summary>
    public async Task<long> RunAsync(long most, CancellationToken cancellationToken)
    {
        long done = 0;
        while (done < most && IsAnythingDue())
        {
            cancellationToken.ThrowIfCancellationRequested();
            int limit = (int)Math.Min(DocumentsPerStep, most - done);
            done += await host.WriteAsync(writer => Step(writer, limit), cancellationToken).ConfigureAwait(false);
        }

        return done;
    }

    private bool IsAnythingDue()
    {
        using DatabaseSnapshot snapshot = host.BeginRead();
        return snapshot.Due.HasDue(action, host.Options.TimeProvider.GetUtcNow().UtcTicks);
    }

    private int Step(DocumentWriter writer, int limit)
    {
        long began = host.Options.TimeProvider.GetTimestamp();
        int done = 0;
        foreach (byte[] key in writer.Due.Due(action, writer.NowTicks, limit))
        {
            Act(writer, key);
            done++;
            if (host.Options.TimeProvider.GetElapsedTime(began) > _stepTime)
                break;
        }

        writer.Save();
        return done;
    }

    private void Act(DocumentWriter writer, byte[] key)
    {
        byte[] folded = DueIndex.IdOf(key).ToArray();
        if (action == DueAction.ExpireValue)
        {
            ExpireValue(writer, key, KindKey.Of(Kind.CompareExchange, default, folded));
            return;
        }

        bool isTrue = writer.TryGet(folded, out DocumentRecord record)
            && DueTimes.Of(record.Metadata)[action] == DueIndex.TicksOf(key);
        if (!isTrue)
            writer.Due.Delete(key); // the document was changed by another version of the program
        else if (action == DueAction.Expire)
            writer.Remove(folded);
        else
            writer.Rewrite(folded, Done);
    }

    private static void ExpireValue(DocumentWriter writer, byte[] key, byte[] value)
    {
        writer.UseReserve();
        bool isTrue = writer.Kinds.TryGet(value, out KindRecord record)
            && DueTimes.OfItem(value, record.Value) == DueIndex.TicksOf(key);
        if (!isTrue)
            writer.Due.Delete(key); // the value was changed by another version of the program
        else
            writer.Kinds.Delete(value, writer.NextEtag(), writer.NowTicks);
    }

    /// <summary>Returns the metadata of a document after the action.</summary>
    private byte[] Done(byte[] metadata)
    {
        byte[] rest = MetadataMember.Without(metadata, DueTimes.MemberOf(action)).ToArray();
        if (action != DueAction.Archive)
            return rest;
        rest = MetadataMember.Without(rest, "@archived"u8).ToArray();
        return rest.Length <= 2
            ? "{\"@archived\":true}"u8.ToArray()
            : Encoding.UTF8.GetBytes(
                string.Concat(Encoding.UTF8.GetString(rest.AsSpan(0, rest.Length - 1)), ",\"@archived\":true}"));
    }
}
