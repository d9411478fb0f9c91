using System.Linq.Expressions;
using System.Numerics;
using System.Text.Json;
using System.Text.Json.Serialization;
using Treepie.Linq;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>
/// Changes members of a stored document in place; the edits are applied in the order of the calls:
/// <c>patch.Set(o => o.City, "Lyon").Increment(o => o.Moves, 1)</c>. Other members are unchanged.
/// </summary>
/// <typeparam name="T">The type whose members select what to change.</typeparam>
public sealed class DocumentPatch<T>
    where T : class
{
    private readonly IQuerySession _session;
    private readonly List<MemberEdit> _edits = [];

    internal DocumentPatch(IQuerySession session) => _session = session;

    internal IReadOnlyList<MemberEdit> Edits => _edits;

    /// <summary>Sets a member; creates missing objects on its path.</summary>
    /// <exception cref="NotSupportedException">The expression does not select a member.</exception>
    public DocumentPatch<T> Set<TValue>(Expression<Func<T, TValue>> path, TValue value)
    {
        _edits.Add(new MemberEdit(MemberEditKind.Set, PathOf(path), Json(value)));
        return this;
    }

    /// <summary>Adds a number to a member; a missing member counts as 0.</summary>
    /// <exception cref="NotSupportedException">The expression does not select a member.</exception>
    public DocumentPatch<T> Increment<TNumber>(Expression<Func<T, TNumber?>> path, TNumber delta)
        where TNumber : struct, INumber<TNumber>
    {
        _edits.Add(new MemberEdit(MemberEditKind.Increment, PathOf(path), Json(delta)));
        return this;
    }

    /// <summary>Edits an array.</summary>
    /// <exception cref="NotSupportedException">The expression does not select a member.</exception>
    public DocumentPatch<T> Change<TElement>(
        Expression<Func<T, IEnumerable<TElement>>> path, Action<ArrayPatch<TElement>> change)
    {
        ArgumentNullException.ThrowIfNull(change);
        var array = new ArrayPatch<TElement>(PathOf(path), _session.Json);
        change(array);
        _edits.AddRange(array.Edits);
        return this;
    }

    private byte[] Json<TValue>(TValue value) =>
        JsonSerializer.SerializeToUtf8Bytes(value, _session.Json.GetTypeInfo(typeof(TValue)));

    private MemberPath PathOf(LambdaExpression lambda)
    {
        ArgumentNullException.ThrowIfNull(lambda);
        DocumentPath path = new PathTranslator(_session, typeof(T)).Of(DocumentLambda.Of(lambda));
        if (path.IsId || path.IsOfElements)
            throw Refusal.Of(lambda.Body, "A patch changes one member that is written to the document: 'x => x.Address.City'.");
        if (lambda.Body is MemberExpression { Member: var member }
            && member.IsDefined(typeof(JsonConverterAttribute), inherit: true))
            throw Refusal.Of(
                lambda.Body,
                $"{member.Name} has a JSON converter of its own, which a patch does not go through. Load the document, change it "
                    + $"and save it.");
        return MemberPath.Parse(path.Text);
    }
}
