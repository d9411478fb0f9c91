using System.Globalization;
using System.Text;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

/// <summary>
/// Random work on documents with attachments and revisions, and what is to be found of it: the attachments of each document, and
/// those that each revision was made with.
/// </summary>
internal sealed class RevisionModel
{
    private readonly Dictionary<string, SortedDictionary<string, string>> _documents = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Dictionary<string, string>> _revisions = new(StringComparer.Ordinal);

    public static IEnumerable<string> Ids => Enumerable.Range(0, 5).Select(static number => $"docs/{number}");

    /// <summary>How many documents were reverted to states with other attachments.</summary>
    public int Reverted { get; private set; }

    public async Task StepAsync(Database database, Random random, CancellationToken cancel)
    {
        string id = $"docs/{random.Next(5)}", name = $"n{random.Next(3)}";
        bool isThere = _documents.TryGetValue(id, out SortedDictionary<string, string>? attachments);
        switch (random.Next(10))
        {
            case 0 when isThere:
                await database.WriteAsync(new WriteBatch().Delete(id), cancel);
                _documents.Remove(id);
                break;
            case 1 or 2 or 3 when isThere:
                string text = new((char)('a' + random.Next(4)), random.Next(6) == 0 ? 1_100_000 : random.Next(3));
                await RevisionAttachmentsTests.AttachAsync(database, id, name, text);
                attachments![name] = text;
                break;
            case 4 when isThere:
                await database.WriteAsync(new WriteBatch().DeleteAttachment(id, name), cancel);
                attachments!.Remove(name);
                break;
            case 5:
                await RevertAsync(database, random, id, cancel);
                break;
            case 6:
                await ConfigureAsync(database, random, cancel);
                if (random.Next(2) == 0)
                    await database.Revisions.EnforceAsync(cancel);
                break;
            case 7 when Vectors(database, id) is { Count: > 0 } vectors:
                await database.Revisions.DeleteAsync(id, [vectors[random.Next(vectors.Count)]], cancel);
                break;
            case 8 when isThere:
                await database.WriteAsync(new WriteBatch().ForceRevision(id), cancel);
                break;
            default:
                await database.WriteAsync(
                    new WriteBatch().Put(
                        id,
                        Encoding.UTF8.GetBytes(
                            string.Create(CultureInfo.InvariantCulture, $"{{\"n\":{random.Next(3)},\"@metadata\":{{\"x\":1}}}}"))),
                    cancel);
                _documents.TryAdd(id, []);
                break;
        }

        using DatabaseSnapshot snapshot = database.BeginRead();
        foreach (string one in Ids) // a step may have made one of what was before
            foreach (Revision revision in snapshot.Revisions(one, metadataOnly: true).Take(2))
                if (!_revisions.ContainsKey(revision.ChangeVector))
                    _revisions[revision.ChangeVector] = revision.IsDeletion || !_documents.TryGetValue(one, out attachments)
                        ? []
                        : new Dictionary<string, string>(attachments, StringComparer.Ordinal);
    }

    public void Compare(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        foreach (string id in Ids)
        {
            Assert.Equal(_documents.ContainsKey(id), snapshot.TryGet(id, out Document _));
            Assert.Equal(
                _documents.TryGetValue(id, out SortedDictionary<string, string>? attachments) ? attachments : [],
                snapshot.Attachments(id).ToDictionary(static one => one.Name, one => Read(snapshot, one)));
            foreach (Revision revision in snapshot.Revisions(id))
                Assert.Equal(
                    _revisions[revision.ChangeVector].OrderBy(static one => one.Key, StringComparer.Ordinal),
                    revision.Attachments.Select(one => KeyValuePair.Create(one.Name, Read(snapshot, one))));
        }
    }

    private static async Task ConfigureAsync(Database database, Random random, CancellationToken cancel) =>
        await database.Revisions.ConfigureAsync(
            random.Next(5) == 0
                ? null
                : new RevisionsConfiguration
                {
                    Default = new RevisionsRule
                    {
                        MinimumToKeep = random.Next(3) == 0 ? null : random.Next(6),
                        PurgeOnDelete = random.Next(3) == 0,
                    },
                },
            cancel);

    private static List<string> Vectors(Database database, string id)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return [.. snapshot.Revisions(id, metadataOnly: true).Select(static revision => revision.ChangeVector)];
    }

    private static string Read(DatabaseSnapshot snapshot, AttachmentValue attachment)
    {
        var text = new StringBuilder();
        for (ReadOnlySpan<byte> piece; !(piece = snapshot.Content(attachment, text.Length)).IsEmpty;)
            text.Append(Encoding.ASCII.GetString(piece));
        return text.ToString();
    }

    private async Task RevertAsync(Database database, Random random, string id, CancellationToken cancel)
    {
        List<string> vectors = Vectors(database, id);
        if (vectors.Count == 0)
            return;
        string vector = vectors[random.Next(vectors.Count)];
        bool isDeletion;
        using (DatabaseSnapshot snapshot = database.BeginRead())
            isDeletion = snapshot.RevisionOf(vector)!.IsDeletion; // it was just there
        await database.Revisions.RevertAsync(new Dictionary<string, string> { [id] = vector }, cancel);
        if (isDeletion)
        {
            _documents.Remove(id);
            return;
        }

        Reverted += _documents.TryGetValue(id, out SortedDictionary<string, string>? now) && now.SequenceEqual(_revisions[vector])
            ? 0
            : 1;
        _documents[id] = new SortedDictionary<string, string>(_revisions[vector], StringComparer.Ordinal);
    }
}
