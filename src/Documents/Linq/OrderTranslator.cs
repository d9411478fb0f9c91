using System.Linq.Expressions;
using System.Text.Json.Serialization.Metadata;

namespace Treepie.Linq;

/// <summary>Translates sort keys: numbers sort as numbers, everything else as text.</summary>
internal static class OrderTranslator
{
    public static string Of(PathTranslator paths, DocumentLambda key, bool descending)
    {
        paths.EnterDocument(key);
        if (paths.TryFind(key.Body) is not { IsRoot: false } path)
            throw Refusal.Of(
                key.Body,
                "An order is by members as they are stored. Store what is to be sorted by as a member of its own, or sort what "
                    + "ToListAsync() gives.");
        Type type = Nullable.GetUnderlyingType(path.Type) ?? path.Type;
        bool isNamed = key.Body is MethodCallExpression { Method.Name: "ToString" };
        if (type.IsEnum && !isNamed && !IsNumber(paths, type))
            throw Refusal.Of(
                key.Body,
                $"{type.Name} is stored by name and sorts by name: write 'x => x.{path.Text}.ToString()' if that is meant, or "
                    + $"store a number.");
        string kind = path.IsId || isNamed ? "" : type.IsEnum ? " as long" : Type.GetTypeCode(type) switch
        {
            TypeCode.SByte or TypeCode.Byte or TypeCode.Int16 or TypeCode.UInt16 or TypeCode.Int32 or TypeCode.UInt32
                or TypeCode.Int64 => " as long",
            TypeCode.UInt64 or TypeCode.Single or TypeCode.Double or TypeCode.Decimal => " as double",
            _ => "",
        };
        return $"{path.Text}{kind}{(descending ? " desc" : "")}";
    }

    private static bool IsNumber(PathTranslator paths, Type type)
    {
        if (paths.JsonOf(type) is not { } json)
            return false;
        using System.Text.Json.JsonDocument written = System.Text.Json.JsonSerializer.SerializeToDocument(
            Interpreter.DefaultOf(type), (JsonTypeInfo)json);
        return written.RootElement.ValueKind == System.Text.Json.JsonValueKind.Number;
    }
}
