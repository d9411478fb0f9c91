using Treepie.Indexes.Definitions;
using Treepie.Indexes.Fields;
using Treepie.Queries.Filters;
using Treepie.Queries.Projecting;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>Binds SELECT and INCLUDE to paths.</summary>
internal sealed class OutputBinder(
    RqlQuery query, QueryParameters parameters, FieldBinder fields, NoteBinder notes, BesideBinder beside, LoadBinder loads)
{
    private readonly List<(string Name, MethodExpression Call)> _computed = [];
    private readonly List<FieldPath> _includePaths = [];
    private readonly List<string> _includeIds = [];

    public IReadOnlyList<FieldPath> IncludePaths => _includePaths;

    public IReadOnlyList<string> IncludeIds => _includeIds;

    /// <summary>Where SELECT takes values from.</summary>
    public ProjectionBehavior Behavior { get; init; }

    /// <summary>Whether <c>neverStale()</c> is included.</summary>
    public bool NeverStale { get; private set; }

    /// <summary>Whether <c>timings()</c> is included.</summary>
    public bool WantsTimings { get; private set; }

    /// <summary>The calls of declared functions that are values of the projection, by name.</summary>
    public IReadOnlyList<(string Name, MethodExpression Call)> Computed => _computed;

    /// <summary>Returns the projection of the results, or null if they stay whole documents.</summary>
    public Projection? BindSelect()
    {
        if (query.Select is not { Items.Count: > 0 } select || ExaminedConditions.ReturnsCounts(query))
            return null;

        var projected = new List<ProjectedField>();
        var names = new HashSet<string>(StringComparer.Ordinal);
        foreach (AliasedExpression item in select.Items)
        {
            ProjectedField field = BindValue(item);
            if (!names.Add(field.Name))
                throw RqlErrors.At(
                    query.Text, item.Value.Position,
                    $"Two values are selected as '{field.Name}': give one of them another name with 'as'.");
            if (field.Name == FieldPath.MetadataMember)
                throw RqlErrors.At(
                    query.Text, item.Value.Position,
                    $"'{FieldPath.MetadataMember}' is the metadata of the result itself: select it under another name with "
                        + $"'as'.");

            projected.Add(field);
        }

        return new Projection(projected, loads.Loads);
    }

    /// <summary>Binds the ids of documents to load.</summary>
    public void BindLoads() =>
        loads.Bind(load => BindItem(new AliasedExpression(load.Source, $"$load {load.Alias}"))); // no name of a value

    /// <summary>Binds a value.</summary>
    public ProjectedField BindValue(AliasedExpression item) =>
        new FunctionBinder(query, parameters, BindItem).TryBind(item) ?? BindItem(item);

    private ProjectedField BindItem(AliasedExpression item)
    {
        if (query.GroupBy.Count == 0 && beside.TrySelect(item) is { } found)
            return found;
        switch (item.Value)
        {
            case PathExpression expression when loads.Find(expression, item.Alias) is { } loaded:
                return loaded;
            case PathExpression { Segments: [{ Elements.Count: 0 } only] } whole when only.Name == query.From.Alias:
                return SelectDocument(item.Alias ?? only.Name, whole.Position);
            case PathExpression expression:
                FieldPath path = fields.Path(expression);
                return Select(item.Alias ?? path.Text, path, expression.Position);

            // Clients quote fields whose names are keywords or contain spaces.
            case LiteralExpression { Kind: LiteralKind.String } literal:
                return Select(item.Alias ?? literal.Text, fields.Path(literal.Text, literal.Position), literal.Position);
            case LiteralExpression literal:
                return ProjectedField.OfLiteral(item.Alias ?? literal.Text, parameters.Json(literal));
            case ParameterExpression parameter:
                return ProjectedField.OfLiteral(item.Alias ?? "$" + parameter.Name, parameters.Json(parameter));
            case MethodExpression method when fields.IsId(method):
                return ProjectedField.OfId(item.Alias ?? "id()");
            case MethodExpression { Arguments: [{ Value: PathExpression of }] } method
                when method.Is("id") && loads.IdOf(of, item.Alias ?? "id()") is { } id:
                return id;
            case MethodExpression method when query.Declares(method):
                _computed.Add((item.Alias ?? method.Name, method));
                return ProjectedField.OfScript(item.Alias ?? method.Name);
            case MethodExpression method:
                throw FunctionNames.NotHere(query, method, "where a value is expected");
            default:
                throw RqlErrors.At(
                    query.Text, item.Value.Position, "Expected a value: a field, a function, a parameter or a text.");
        }
    }

    /// <summary>The whole document, which no index keeps.</summary>
    private ProjectedField SelectDocument(string name, int position) => Behavior switch
    {
        ProjectionBehavior.FromIndex => ProjectedField.OfNothing(name),
        ProjectionBehavior.FromIndexOrThrow => throw RqlErrors.At(
            query.Text, position,
            $"'{name}' is the whole document, and the projection may take values from the index alone (FromIndexOrThrow)."),
        _ => ProjectedField.OfDocument(name),
    };

    /// <summary>
    /// A name of an index field stands for that field's value, whether the index stores it or it is read from the document.
    /// </summary>
    private ProjectedField Select(string name, FieldPath path, int position)
    {
        StoredField? field = fields.Selected(path);
        FieldPath? inDocument = field is { } known
            ? (known.Path == AutoIndexField.Id ? null : FieldPath.TryParse(known.Path))
            : path;
        bool isStored = field is { IsStored: true };
        switch (Behavior)
        {
            // clients select some metadata whatever the projection behavior
            case ProjectionBehavior.FromIndexOrThrow when !isStored && !path.IsMetadata:
                throw RqlErrors.At(
                    query.Text, position,
                    $"The index does not keep '{path.Text}' (\"Stored\": true), from which alone the projection may take values "
                        + $"(FromIndexOrThrow).");
            case ProjectionBehavior.FromIndex or ProjectionBehavior.FromIndexOrThrow when !isStored:
                return ProjectedField.OfNothing(name);
            case ProjectionBehavior.FromDocument or ProjectionBehavior.FromDocumentOrThrow:
                return ProjectedField.OfPath(name, path, isRequired: Behavior == ProjectionBehavior.FromDocumentOrThrow);
            default:
                if (field is { IsComputed: true } computed)
                    return ProjectedField.OfStored(name, computed.Slot, null);
                return inDocument is null ? ProjectedField.OfId(name)
                    : field is { IsStored: true } kept ? ProjectedField.OfStored(name, kept.Slot, inDocument)
                    : ProjectedField.OfPath(name, inDocument);
        }
    }

    public void BindIncludes()
    {
        foreach (Expression include in query.Include)
        {
            switch (include)
            {
                case PathExpression expression:
                    _includePaths.Add(fields.Path(expression));
                    break;

                // A path has no slash; an id nearly always does.
                case LiteralExpression { Kind: LiteralKind.String } literal
                    when literal.Text.Contains('/', StringComparison.Ordinal):
                    _includeIds.Add(literal.Text);
                    break;
                case LiteralExpression { Kind: LiteralKind.String } literal:
                    _includePaths.Add(BindQuoted(literal));
                    break;
                case ParameterExpression parameter:
                    _includeIds.Add(parameters.Text(parameter, "the id to include"));
                    break;
                case MethodExpression method when notes.TryBind(method):
                    break;
                case MethodExpression method when query.GroupBy.Count == 0 && beside.TryInclude(method):
                    break;
                case MethodExpression method when method.Is("neverStale") && method.Arguments.Count == 0:
                    NeverStale = true;
                    break;
                case MethodExpression method when method.Is("timings"):
                    WantsTimings = true;
                    break;
                case MethodExpression method:
                    throw FunctionNames.NotHere(query, method, "in 'include'");
                default:
                    throw RqlErrors.At(query.Text, include.Position, "Expected a path or an id to include.");
            }
        }
    }

    private FieldPath BindQuoted(LiteralExpression literal)
    {
        // Clients quote whole paths, including the alias.
        FieldPath path = fields.Path(literal.Text, literal.Position);
        string prefix = query.From.Alias + ".";
        return query.From.Alias is not null && path.Text.StartsWith(prefix, StringComparison.Ordinal)
            ? fields.Path(path.Text[prefix.Length..], literal.Position)
            : path;
    }
}
