using System.Text;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// Creates revisions of documents in their commits. A revision has the etag, and so the change vector, of the document; one that
/// is created later for the state before the first revision has an etag of its own.
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
            _configuration = SettingReader.Read(record.Value.ToArray(), RevisionsConfiguration.FromJson);
        HasAny = host.Kinds.Items.Count(Kind.Revision) > 0;
    }

    /// <summary>Whether there is nothing to do for any document: none have revisions, and none are to be created.</summary>
    public bool IsIdle => _configuration is null && !HasAny;

    private bool HasAny { get; set; }

    /// <summary>Whether bodies that are compressed in documents are compressed in their revisions.</summary>
    private bool Packs
    {
        get
        {
            byte[] name = Encoding.UTF8.GetBytes(DocumentCompressionConfiguration.SettingName);
            return _packs ??= _host.Kinds.TryGet(KindKey.Of(Kind.Setting, default, name), out KindRecord record)
                && SettingReader.Read(record.Value.ToArray(), DocumentCompressionConfiguration.FromJson)?.Revisions == true;
        }
    }

    /// <summary>Returns the rule of a collection; null if no revisions are created.</summary>
    public RevisionsRule? RuleOf(string collection) => _configuration?.RuleOf(collection);

    /// <summary>Creates a revision of a state with its etag, and deletes revisions that the rule does not keep.</summary>
    /// <param name="folded">The folded id of the document.</param>
    /// <param name="id">The id in the case in which it was first written.</param>
    /// <param name="etag">The etag.</param>
    /// <param name="collection">The document's collection.</param>
    /// <param name="ticks">The time of the state (UTC ticks).</param>
    /// <param name="isDeletion">Whether the document was deleted.</param>
    /// <param name="metadata">The metadata.</param>
    /// <param name="body">The body.</param>
    /// <param name="packed">The compressed body, if the document has one; otherwise empty.</param>
    /// <param name="hasAttachments">Whether it may have attachments, which are then kept in their current state.</param>
    /// <param name="origin">How it came about; it is marked as forced only if no rule would create it.</param>
    public void Add(
        ReadOnlySpan<byte> folded, ReadOnlySpan<byte> id, long etag, string collection, long ticks, bool isDeletion,
        ReadOnlySpan<byte> metadata, ReadOnlySpan<byte> body, ReadOnlySpan<byte> packed, bool hasAttachments,
        RevisionOrigin origin)
    {
        byte[] key = KindKey.OfRevision(folded, etag);
        int shared = SharedBy(_host.Kinds.Items, folded, isDeletion, body);
        byte[] attachments = hasAttachments ? RevisionAttachments.Of(_host.Kinds.Items, folded) : [];
        bool isPacked = !packed.IsEmpty && shared == 0 && Packs;
        _host.Kinds.Put(
            key, id,
            RevisionRecord.Encode(
                collection, ticks, isDeletion, shared, metadata, isPacked ? packed : body, attachments,
                origin with { IsForced = origin.IsForced && RuleOf(collection) is null, IsOwn = true }, isPacked),
            etag, _host.NowTicks);
        HasAny = true;
        if (RuleOf(collection) is { HasLimit: true } rule)
            Enforce(folded, rule, rule.MaxDeletesPerUpdate ?? RevisionsRule.DefaultDeletesPerUpdate);
    }

    /// <summary>
    /// Returns the number of previous revisions with the same body, which a new one then shares; 0 if the last has another body.
    /// </summary>
    public static int SharedBy(KindItems items, ReadOnlySpan<byte> folded, bool isDeletion, ReadOnlySpan<byte> body) =>
        !isDeletion
            && items.LastRevision(folded) is { } last
            && items.TryGet(last, out KindRecord before)
            && new RevisionRecord(before.Value) is { IsDeletion: false, Shared: < RevisionRecord.MaxShared } revision
            && items.RevisionBody(last).SequenceEqual(body)
                ? revision.Shared + 1
                : 0;

    /// <summary>Deletes revisions that a rule does not keep, oldest first, up to a limit; returns their number.</summary>
    /// <param name="folded">The folded id of the document.</param>
    /// <param name="rule">The rule.</param>
    /// <param name="most">The maximum number to delete.</param>
    /// <param name="keepsForced">Whether revisions created on request are kept.</param>
    public int Enforce(ReadOnlySpan<byte> folded, RevisionsRule rule, long most, bool keepsForced = false)
    {
        List<byte[]> keys = _host.Kinds.Items.Revisions(folded);
        long surplus = rule.MinimumToKeep is { } keep ? keys.Count - keep : keys.Count;
        long limit = Math.Min(most, surplus);
        int deleted = 0, old = limit > 0 && rule.MinimumAgeToKeep is { } age ? CountOlder(keys, age) : keys.Count;
        for (int i = 0; i < old && deleted < limit; i++)
        {
            if (keepsForced && _host.Kinds.TryGet(keys[i], out KindRecord record)
                && new RevisionRecord(record.Value).Origin.IsForced)
                continue;
            _host.Kinds.Delete(keys[i], _host.NextEtag(), _host.NowTicks);
            deleted++;
        }

        return deleted;
    }

    /// <summary>
    /// Returns how many revisions, counted from the first, have at least an age. One whose time is yet to come was written while
    /// the clock was ahead, and is at least as old as those that follow it.
    /// </summary>
    private int CountOlder(List<byte[]> keys, TimeSpan age)
    {
        long youngest = _host.NowTicks - Math.Min(age.Ticks, _host.NowTicks);
        int old = 0;
        for (int i = 0; i < keys.Count && _host.Kinds.TryGet(keys[i], out KindRecord record); i++)
        {
            long ticks = new RevisionRecord(record.Value).Ticks;
            if (ticks <= youngest)
                old = i + 1;
            else if (ticks <= _host.NowTicks)
                break;
        }

        return old;
    }

    /// <summary>Deletes all revisions of a document.</summary>
    public void Purge(ReadOnlySpan<byte> folded)
    {
        foreach (byte[] key in _host.Kinds.Items.Revisions(folded))
            _host.Kinds.Delete(key, _host.NextEtag(), _host.NowTicks);
    }
}
