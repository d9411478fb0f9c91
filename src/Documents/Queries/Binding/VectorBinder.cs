using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexing.Queries;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>Binds <c>vector.search(field, vector [, minimum similarity [, number of candidates]])</c>.</summary>
internal sealed class VectorBinder(RqlQuery query, QueryParameters parameters, FieldBinder fields)
{
    /// <summary>The number of candidates if the query does not specify it.</summary>
    public const int DefaultCandidates = 16;

    private bool _isPacked; // the vectors of the search are bits, eight to a byte

    public static bool IsSearch(MethodExpression method) => method.Is("vector.search");

    public VectorQuery Bind(MethodExpression method, bool isExact)
    {
        int count = method.Arguments.Count;
        if (count is < 2 or > 4)
            throw RqlErrors.At(
                query.Text, method.Position,
                $"'{method.Name}()' takes 2 to 4 arguments: a field, a vector, the least similarity, the number of candidates; "
                    + $"{count} are given.");

        AutoIndexField found = Field(method.Arguments[0].Value);
        string field = found.SchemaName;
        _isPacked = found.Kind == AutoIndexFieldKind.PackedBits;
        Expression given = method.Arguments[1].Value;
        string? document = given is MethodExpression { Arguments: [{ Value: { } id }] } of && of.Is("embedding.forDoc")
            ? parameters.Text(id, "the id of a document")
            : null;
        List<float[]> vectors = document is null ? Vectors(given) : [];
        FieldValue least = count > 2 ? parameters.Value(method.Arguments[2].Value) : FieldValue.Null;
        FieldValue most = count > 3 ? parameters.Value(method.Arguments[3].Value) : FieldValue.Null;
        float? minimum = least.Kind switch
        {
            FieldValueKind.Null => null,
            FieldValueKind.Long => least.Long,
            FieldValueKind.Double when float.IsFinite((float)least.Double) => (float)least.Double,
            _ => throw RqlErrors.At(
                query.Text, method.Arguments[2].Value.Position,
                "The least similarity is a number: for cosines from -1 to 1, for bits from 0 to 1."),
        };
        if (most is not ({ Kind: FieldValueKind.Null }
            or { Kind: FieldValueKind.Long, Long: >= 1 and <= VectorQuery.MaxCandidates }))
            throw RqlErrors.At(
                query.Text, method.Arguments[3].Value.Position,
                $"The number of candidates is a whole number from 1 to {VectorQuery.MaxCandidates:N0}.");
        return new VectorQuery(
            field, vectors is [{ } first, ..] ? first : [], most.Kind == FieldValueKind.Null ? DefaultCandidates : (int)most.Long,
            minimum, isExact)
        {
            Others = [.. vectors.Skip(1)],
            OfEntry = document is null ? null : TextMethodBinder.Key(document),
        };
    }

    /// <summary>Binds a vector field, stored at full precision, as one byte or as one bit per component.</summary>
    private AutoIndexField Field(Expression operand)
    {
        if (operand is not MethodExpression method)
            return fields.Field(operand, AutoIndexFieldKind.Vector);
        string name = method.Name.ToLowerInvariant();
        if (method.Arguments.Count != 1 || !name.StartsWith("embedding.", StringComparison.Ordinal))
            throw RqlErrors.At(
                query.Text, method.Position,
                "Expected a field of vectors: its name, embedding.f32_i8(name), embedding.f32_i1(name), embedding.i8(name) or "
                    + "embedding.i1(name).");
        return name switch
        {
            "embedding.f32" => fields.Field(method.Arguments[0].Value, AutoIndexFieldKind.Vector),
            "embedding.f32_i8" or "embedding.i8" => fields.Field(method.Arguments[0].Value, AutoIndexFieldKind.VectorBytes),
            "embedding.f32_i1" => fields.Field(method.Arguments[0].Value, AutoIndexFieldKind.VectorBits),
            "embedding.i1" => fields.Field(method.Arguments[0].Value, AutoIndexFieldKind.PackedBits),
            "embedding.text" or "embedding.text_i8" or "embedding.text_i1" =>
                throw RqlErrors.At(
                    query.Text, method.Position,
                    $"'{method.Name}()' needs a model that makes vectors of texts, which is not part of the engine. Store "
                        + "vectors in the documents and search those."),
            _ => throw RqlErrors.At(
                query.Text, method.Position,
                $"There is no '{method.Name}()'. There are embedding.f32, embedding.f32_i8 (a byte for each number), "
                    + "embedding.f32_i1 (a bit), embedding.i8 and embedding.i1."),
        };
    }

    /// <summary>Reads a vector, or several from an array parameter; the search matches entries near any of them.</summary>
    private List<float[]> Vectors(Expression expression)
    {
        if (expression is LiteralExpression { Kind: LiteralKind.String } literal)
            return [FromBase64(literal.Text, literal.Position)];
        if (expression is not ParameterExpression parameter)
            throw RqlErrors.At(
                query.Text, expression.Position,
                "Expected a vector: a parameter that is an array of numbers, base64 of 32-bit floats, or "
                    + "embedding.forDoc('books/1') for those of a document.");

        JsonElement json = parameters.Element(parameter);
        if (json.ValueKind != JsonValueKind.Array || json.GetArrayLength() == 0 || json[0].ValueKind == JsonValueKind.Number)
            return [Vector(json, parameter)];
        return json.GetArrayLength() <= VectorQuery.MaxVectors
            ? [.. json.EnumerateArray().Select(vector => Vector(vector, parameter))]
            : throw RqlErrors.At(
                query.Text, parameter.Position,
                $"A search looks for {VectorQuery.MaxVectors} vectors at once; the parameter ${parameter.Name} has "
                    + $"{json.GetArrayLength():N0}.");
    }

    /// <summary>Reads an array of numbers, <c>{"@vector": […]}</c>, or base64 of floats.</summary>
    private float[] Vector(JsonElement json, ParameterExpression parameter)
    {
        if (json.ValueKind == JsonValueKind.Object && json.TryGetProperty("@vector"u8, out JsonElement inner))
            json = inner;
        if (json.ValueKind == JsonValueKind.String)
            return FromBase64(json.GetString() ?? "", parameter.Position);
        if (json.ValueKind != JsonValueKind.Array
            || json.EnumerateArray().Any(number => number.ValueKind != JsonValueKind.Number))
            throw RqlErrors.At(
                query.Text, parameter.Position,
                $"The parameter ${parameter.Name} is no vector: expected an array of numbers, {{\"@vector\": […]}}, base64 of "
                    + $"32-bit floats, or an array of these.");
        float[] numbers = [.. json.EnumerateArray().Select(number => (float)number.GetDouble())];
        if (!_isPacked)
            return numbers;
        return VectorText.TryUnpack(numbers, out float[] bits)
            ? bits
            : throw RqlErrors.At(
                query.Text, parameter.Position,
                $"The parameter ${parameter.Name} has no packed bits: bytes are expected, numbers from -128 to 255.");
    }

    private float[] FromBase64(string text, int position) =>
        (_isPacked ? VectorText.TryUnpack(text, out float[] vector) : VectorText.TryDecode(text, out vector))
            ? vector
            : throw RqlErrors.At(
                query.Text, position,
                $"This is no vector: base64 of {(_isPacked ? "bytes" : "32-bit floats, little-endian,")} is expected.");
}
