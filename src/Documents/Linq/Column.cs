using System.Linq.Expressions;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Treepie.Linq;

/// <summary>A value of the documents used by a projection.</summary>
internal sealed class Column(string name, string path, Type type, bool isId)
{
    /// <summary>The nodes of the projection that use it.</summary>
    public List<Expression> Nodes { get; } = [];

    public string Path => path;

    public Type Type => type;

    public bool NameIs(string other) => name == other;

    /// <summary>The text in the <c>select</c> clause.</summary>
    public string Text => path == name ? path : $"{path} as '{name.Replace("'", "''", StringComparison.Ordinal)}'";

    /// <summary>Returns its value in a row; the default of its type if the document has none.</summary>
    public object? Read(JsonElement row, QueryModel model)
    {
        if (!row.TryGetProperty(name, out JsonElement value) || value.ValueKind is JsonValueKind.Null or JsonValueKind.Undefined)
            return Interpreter.DefaultOf(type);
        if (isId)
            return model.Session.IdValue(model.DocumentType, value.GetString() ?? "");
        try
        {
            return model.Session.Json.TryGetTypeInfo(type, out JsonTypeInfo? json) ? value.Deserialize(json) : Plain(value);
        }
        catch (JsonException error)
        {
            throw new TreepieException(
                $"The value of '{path}' in a document cannot be read as {type.Name}: {error.Message} Give the member the type "
                    + $"that the document has.",
                error);
        }
    }

    /// <summary>A source-generated context contains only the types of documents.</summary>
    private object Plain(JsonElement value) => Type.GetTypeCode(Nullable.GetUnderlyingType(type) ?? type) switch
    {
        TypeCode.String => value.GetString() ?? "",
        TypeCode.Boolean => value.GetBoolean(),
        TypeCode.Int32 => value.GetInt32(),
        TypeCode.Int64 => value.GetInt64(),
        TypeCode.Double => value.GetDouble(),
        TypeCode.Decimal => value.GetDecimal(),
        TypeCode.DateTime => value.GetDateTime(),
        _ => throw new NotSupportedException(
            $"The JSON options of the session do not know the type {type}, which the query selects. Add it to the "
                + $"JsonSerializerContext with [JsonSerializable]."),
    };
}
