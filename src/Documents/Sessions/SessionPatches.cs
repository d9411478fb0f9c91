using System.Linq.Expressions;
using System.Reflection;
using System.Text.Json;
using System.Text.Json.Serialization;
using Treepie.Linq;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>
/// Changes of single values of documents, which the next save makes where the documents are stored: nothing is loaded, and what
/// others change beside it stays.
/// </summary>
internal sealed class SessionPatches(DocumentSession session)
{
    public void Change<T, TValue>(string id, LambdaExpression path, MemberEditKind kind, TValue value, object? otherwise = null)
        where T : class => Defer(
        id, [new MemberEdit(kind, PathOf(typeof(T), path), Json(value))], otherwise);

    public void ChangeArray<T, TElement>(
        string id, LambdaExpression path, Action<ArrayPatch<TElement>> change, object? otherwise = null)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(change);
        var array = new ArrayPatch<TElement>(PathOf(typeof(T), path), session.Queries.Json);
        change(array);
        if (array.Edits.Count > 0)
            Defer(id, array.Edits, otherwise);
    }

    private void Defer(string id, IReadOnlyList<MemberEdit> edits, object? otherwise)
    {
        ArgumentNullException.ThrowIfNull(id);
        Store.DocumentId.Encode(id, session.Database.Options.MaxIdBytes);
        var patch = Patch.Of(edits);
        var options = new PatchOptions { CreateIfMissing = otherwise is null ? default : Document(id, otherwise) };
        session.Defer(new SessionCommand(batch => batch.Patch(id, patch, options)));
    }

    private byte[] Document(string id, object entity)
    {
        EntityType type = session.TypeOf(entity.GetType());
        byte[] body = session.Saver.Json.Write(type, id, entity);
        return session.Saver.Json.Join(body, new TrackedEntity(entity, type, id)).ToArray();
    }

    private byte[] Json<TValue>(TValue value) =>
        JsonSerializer.SerializeToUtf8Bytes(value, session.Queries.Json.GetTypeInfo(typeof(TValue)));

    private MemberPath PathOf(Type type, LambdaExpression lambda)
    {
        ArgumentNullException.ThrowIfNull(lambda);
        DocumentPath path = new PathTranslator(session.Queries, type).Of(DocumentLambda.Of(lambda));
        if (path.IsId || path.IsOfElements)
            throw Refusal.Of(lambda.Body, "A patch changes one member that is written to the document: 'x => x.Address.City'.");
        if (lambda.Body is MemberExpression { Member: var member } && member.IsDefined(typeof(JsonConverterAttribute), inherit: true))
            throw Refusal.Of(
                lambda.Body,
                $"{member.Name} has a JSON converter of its own, which a patch does not go through. Load the document, change it "
                    + $"and save it.");
        return MemberPath.Parse(path.Text);
    }
}
