using System.Text;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Keeps revisions of documents in their commits. A revision has the etag, and so the change vector, of the document it is of;
/// one that is made later of what was before there were any has an etag of its own.
/// </summary>
internal sealed class RevisionWriter
{
    private readonly IKindHost _host;
    private readonly RevisionsConfiguration? _configuration;
    private bool? _packs;

    public RevisionWriter(IKindHost host)
    {
        _host = host;
        byte[] key = KindKey.Of(Kind.Setting, default, Encoding.UTF8.GetBytes(RevisionsConfiguration.SettingName));
        if (host.Kinds.TryGet(key, out KindRecord record))
            _configuration = RevisionsConfiguration.FromJson(record.Value.ToArray());
        HasAny = host.Kinds.Items.Count(Kind.Revision) > 0;
    }

    /// <summary>Whether there is nothing to do for any document: none have revisions, and none are to be made.</summary>
    public bool IsIdle => _configuration is null && !HasAny;

    private bool HasAny { get; set; }

    /// <summary>Whether bodies that are packed in documents are in their revisions.</summary>
    private bool Packs
    {
        get
        {
            byte[] name = Encoding.UTF8.GetBytes(DocumentCompressionConfiguration.SettingName);
            return _packs ??= _host.Kinds.TryGet(KindKey.Of(Kind.Setting, default, name), out KindRecord record)
                && DocumentCompressionConfiguration.FromJson(record.Value.ToArray()).Revisions;
        }
    }

    /// <summary>The rule of a collection; null where none are made.</summary>
    public RevisionsRule? RuleOf(string collection) => _configuration?.RuleOf(collection);

    /// <summary>Makes a revision of a state with its etag, and deletes what the rule does not keep.</summary>
    /// <param name="folded">The document's id, folded.</param>
    /// <param name="id">The same as first written.</param>
    /// <param name="etag">The etag.</param>
    /// <param name="collection">The document's collection.</param>
    /// <param name="ticks">When it came to be so, UTC.</param>
    /// <param name="isDeletion">Whether it was deleted then.</param>
    /// <param name="metadata">Its metadata.</param>
    /// <param name="body">Its body.</param>
    /// <param name="packed">The same packed, where the document has it so; else empty.</param>
    /// <param name="hasAttachments">Whether it may have attachments, which are then kept as they are now.</param>
    /// <param name="isForced">Whether it is asked for; its mark says so where no rule would make it.</param>
    public void Add(
        ReadOnlySpan<byte> folded, ReadOnlySpan<byte> id, long etag, string collection, long ticks, bool isDeletion,
        ReadOnlySpan<byte> metadata, ReadOnlySpan<byte> body, ReadOnlySpan<byte> packed, bool hasAttachments,
        bool isForced)
    {
        byte[] key = KindKey.OfRevision(folded, etag);
        int shared = SharedBy(_host.Kinds.Items, folded, isDeletion, body);
        byte[] attachments = hasAttachments ? RevisionAttachments.Of(_host.Kinds.Items, folded) : [];
        bool isPacked = !packed.IsEmpty && shared == 0 && Packs;
        _host.Kinds.Put(
            key, id,
            RevisionRecord.Encode(
                collection, ticks, isDeletion, shared, metadata, isPacked ? packed : body, attachments, isPacked,
                isForced && RuleOf(collection) is null),
            etag, _host.NowTicks);
        HasAny = true;
        if (RuleOf(collection) is { HasLimit: true } rule)
            Enforce(folded, rule, rule.MaxDeletesPerUpdate ?? RevisionsRule.DefaultDeletesPerUpdate);
    }

    /// <summary>How many revisions before a new one have its body, which it then shares; 0 where the last has another.</summary>
    public static int SharedBy(KindItems items, ReadOnlySpan<byte> folded, bool isDeletion, ReadOnlySpan<byte> body) =>
        !isDeletion
            && items.LastRevision(folded) is { } last
            && items.TryGet(last, out KindRecord before)
            && new RevisionRecord(before.Value) is { IsDeletion: false, Shared: < RevisionRecord.MaxShared } revision
            && items.RevisionBody(last).SequenceEqual(body)
                ? revision.Shared + 1
                : 0;

    /// <summary>Deletes revisions that a rule does not keep, the oldest first, at most so many; gives how many.</summary>
    /// <param name="folded">The document's id, folded.</param>
    /// <param name="rule">The rule.</param>
    /// <param name="most">Most that are deleted.</param>
    /// <param name="keepsForced">Whether those stay that were asked for.</param>
    public int Enforce(ReadOnlySpan<byte> folded, RevisionsRule rule, long most, bool keepsForced = false)
    {
        List<byte[]> keys = _host.Kinds.Items.Revisions(folded);
        long surplus = rule.MinimumToKeep is { } keep ? keys.Count - keep : keys.Count;
        long youngest = rule.MinimumAgeToKeep is { } age ? _host.NowTicks - Math.Min(age.Ticks, _host.NowTicks) : long.MaxValue;
        int deleted = 0;
        foreach (byte[] key in keys)
        {
            if (deleted >= Math.Min(most, surplus)
                || !_host.Kinds.TryGet(key, out KindRecord record)
                || new RevisionRecord(record.Value).Ticks > youngest)
                break;
            if (keepsForced && new RevisionRecord(record.Value).IsForced)
                continue;
            _host.Kinds.Delete(key, _host.NextEtag(), _host.NowTicks);
            deleted++;
        }

        return deleted;
    }

    /// <summary>Deletes all revisions of a document.</summary>
    public void Purge(ReadOnlySpan<byte> folded)
    {
        foreach (byte[] key in _host.Kinds.Items.Revisions(folded))
            _host.Kinds.Delete(key, _host.NextEtag(), _host.NowTicks);
    }
}
