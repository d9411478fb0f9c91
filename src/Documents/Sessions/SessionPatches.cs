using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>
/// Patches of documents, which the next save applies without loading the documents, so that concurrent changes of other members
/// are kept.
/// </summary>
internal sealed class SessionPatches(DocumentSession session)
{
    /// <summary>Adds a patch of a document.</summary>
    /// <param name="id">The id of the document.</param>
    /// <param name="change">Specifies the changes.</param>
    /// <param name="otherwise">The entity to store if the document does not exist; null: none.</param>
    public void Add<T>(string id, Action<DocumentPatch<T>> change, object? otherwise = null)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(id);
        ArgumentNullException.ThrowIfNull(change);
        DocumentId.Encode(id, session.Database.Options.MaxIdBytes);
        var changes = new DocumentPatch<T>(session.Queries);
        change(changes);
        if (changes.Edits.Count == 0)
            return;
        var patch = Patch.Of(changes.Edits);
        var options = new PatchOptions { CreateIfMissing = otherwise is null ? default : Document(id, otherwise) };
        session.Defer(
            new SessionCommand(
                batch => batch.Patch(id, patch, options), [.. changes.Edits.Select(edit => (id, ChangeOf(edit)))]));
    }

    private static SessionChange ChangeOf(MemberEdit edit)
    {
        JsonNode? value = JsonNode.Parse(
            edit.Json.Span, documentOptions: new JsonDocumentOptions { MaxDepth = DatabaseOptions.MostDocumentDepth + 1 });
        string path = edit.Path.Text;
        return edit.Kind switch
        {
            MemberEditKind.Set => new SessionChange(SessionChangeKind.ValueSet, path, NewValue: value),
            MemberEditKind.Increment => new SessionChange(SessionChangeKind.ValueIncremented, path, NewValue: value),
            MemberEditKind.Append => new SessionChange(SessionChangeKind.ElementsAdded, path, NewValue: value),
            MemberEditKind.RemoveAt => new SessionChange(SessionChangeKind.ElementRemovedAt, path, OldValue: value),
            _ => new SessionChange(SessionChangeKind.ElementsRemoved, path, OldValue: value),
        };
    }

    private byte[] Document(string id, object entity)
    {
        EntityType type = session.TypeOf(entity.GetType());
        byte[] body = session.Saver.Json.Write(type, id, entity);
        return session.Saver.Json.Join(body, new TrackedEntity(entity, type, id)).ToArray();
    }
}
