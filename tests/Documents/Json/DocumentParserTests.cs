using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Json;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Json;

public sealed class DocumentParserTests
{
    private static readonly string[] _texts = ["a", "\\", "\"", "\n", "😀", " ", "é", "\0"];
    private static readonly JsonSerializerOptions _indented = new() { WriteIndented = true };

    [Theory]
    [InlineData("{}", "{}", "", "")]
    [InlineData(" { } ", "{}", "", "")]
    [InlineData("\uFEFF{\"a\":1}", "{\"a\":1}", "", "")]
    [InlineData("{\"a\" : 1 , \"b\" : [ 1 , 2 ,\n{ } ] }", "{\"a\":1,\"b\":[1,2,{}]}", "", "")]
    [InlineData(
        "{\"a\":1.50,\"b\":-0,\"c\":1E400,\"d\":12345678901234567890123}",
        "{\"a\":1.50,\"b\":-0,\"c\":1E400,\"d\":12345678901234567890123}", "", "")]
    [InlineData("{\"@metadata\":{}}", "{}", "", "")]
    [InlineData("{\"@metadata\":{\"@collection\":\"Users\"},\"a\":1}", "{\"a\":1}", "", "Users")]
    [InlineData("{\"a\":1,\"@metadata\":{\"@collection\":\"Users\"}}", "{\"a\":1}", "", "Users")]
    [InlineData("{\"a\":1,\"@metadata\" : {\"@collection\" : \"Users\"} , \"b\":2}", "{\"a\":1,\"b\":2}", "", "Users")]
    [InlineData("{\"a\":1,\"@metadata\":{\"x\":1,\"@collection\":\"Users\",\"y\":2}}", "{\"a\":1}", "{\"x\":1,\"y\":2}", "Users")]
    [InlineData(
        "{\"a\":1,\"@metadata\":{\"@id\" : \"u/1\" ,\"x\" : [ { \"@id\":1} ]  , \"@change-vector\":\"A:1\" } }", "{\"a\":1}",
        "{\"x\":[{\"@id\":1}]}", "")]
    [InlineData(
        "{\"@metadata\":{\"@flags\":\"x\",\"@last-modified\":{\"any\":[1,{}]}},\"a\":{\"@metadata\":{\"@id\":1}}}",
        "{\"a\":{\"@metadata\":{\"@id\":1}}}", "{\"@flags\":\"x\"}", "")]
    [InlineData("{\"@metadata\":{\"@collection\":null}}", "{}", "", "")]
    [InlineData("{\"@metadata\":{\"@collection\":\"Caf\\u00e9\\ud83d\\ude00\"}}", "{}", "", "Café😀")]
    [InlineData("{\"\\u0040metadata\":{\"\\u0040collection\":\"X\"}}", "{}", "", "X")]
    [InlineData("{\"a\":\"\\u0041\\n\\\"\\/\"}", "{\"a\":\"\\u0041\\n\\\"\\/\"}", "", "")]
    public void A_document_is_minified_and_its_metadata_taken_apart(string json, string body, string metadata, string collection)
    {
        (string Body, string Metadata, string Collection) parsed = Parse(json);

        Assert.Equal((body, metadata, collection), parsed);
    }

    [Theory]
    [InlineData("", "line 1, column 1", "no document")]
    [InlineData("  ", "byte 2", "no document")]
    [InlineData("[]", "byte 0", "begins with '['")]
    [InlineData("1", "byte 0", "JSON object")]
    [InlineData("{", "byte 1", "still open")]
    [InlineData("{\"a\":[{", "byte 7", "3 object(s)")]
    [InlineData("{\"a\"}", "byte 4", "':' is expected")]
    [InlineData("{\"a\":}", "byte 5", "a value is expected")]
    [InlineData("{\"a\":1,}", "byte 7", "a key in double quotes")]
    [InlineData("{\"a\":[1,]}", "$.a[1]", "a value is expected")]
    [InlineData("{\"a\":1 \"b\":2}", "byte 7", "',' or '}' is expected")]
    [InlineData("{\"a\":[1}", "byte 7", "',' or ']' is expected")]
    [InlineData("{'a':1}", "byte 1", "a key in double quotes")]
    [InlineData("{a:1}", "byte 1", "a key in double quotes")]
    [InlineData("{\"a\":01}", "byte 5", "no zero before")]
    [InlineData("{\"a\":-}", "byte 5", "digits")]
    [InlineData("{\"a\":1.}", "byte 5", "decimal point")]
    [InlineData("{\"a\":1e}", "byte 5", "exponent")]
    [InlineData("{\"a\":+1}", "byte 5", "a value is expected")]
    [InlineData("{\"a\":NaN}", "byte 5", "a value is expected")]
    [InlineData("{\"a\":nul}", "byte 5", "only words")]
    [InlineData("{\"a\":\"x", "byte 5", "no closing quote")]
    [InlineData("{\"a\":\"x\ny\"}", "byte 7", "control character 0x0A")]
    [InlineData("{\"a\":\"\\x\"}", "byte 6", "backslash")]
    [InlineData("{\"a\":\"\\u12\"}", "byte 6", "backslash")]
    [InlineData("{\"a\":\"\\ud800\"}", "byte 6", "surrogate")]
    [InlineData("{\"a\":\"\\ud800\\ud800\"}", "byte 6", "surrogate")]
    [InlineData("{\"a\":\"\\ude00\"}", "byte 6", "surrogate")]
    [InlineData("{} {}", "byte 3", "document has ended")]
    [InlineData("{}x", "byte 2", "'x' follows")]
    [InlineData("{\"a\":1}\u0001", "byte 7", "0x01")]
    [InlineData("{\"a\":1,\n \"b\":2,\n \"a\":3}", "line 3, column 2", "'a' occurs twice")]
    [InlineData("{\"x\":{\"a\":1,\"\\u0061\":2}}", "$.x", "occurs twice")]
    [InlineData("{\"x\":[0,{\"y\":[{\"a\":1,\"a\":2}]}]}", "$.x[1].y[0].a", "occurs twice")]
    [InlineData("{\"@metadata\":{\"@collection\":\"A\",\"@collection\":\"B\"}}", "$.@metadata", "occurs twice")]
    [InlineData("{\"@metadata\":1}", "byte 13", "@metadata must be an object")]
    [InlineData("{\"@metadata\":null}", "byte 13", "@metadata must be an object")]
    [InlineData("{\"@metadata\":{\"@collection\":1}}", "$.@metadata.@collection", "@collection must be a string")]
    public void What_is_not_valid_is_refused_with_place_and_reason(string json, string place, string reason)
    {
        InvalidDocumentException error = Assert.Throws<InvalidDocumentException>(() => Parse(json));

        Assert.Contains("'users/1'", error.Message, StringComparison.Ordinal);
        Assert.Contains(place, error.Message, StringComparison.Ordinal);
        Assert.Contains(reason, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Bytes_that_are_not_UTF8_are_refused_with_their_place()
    {
        byte[] json = [.. "{\"é\":\""u8, 0xC3, 0x28, .. "\"}"u8];

        InvalidDocumentException error = Assert.Throws<InvalidDocumentException>(() => Parse(json));

        Assert.Contains("byte 7", error.Message, StringComparison.Ordinal);
        Assert.Contains("0xC3", error.Message, StringComparison.Ordinal);
        Assert.Contains("UTF-8", error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("{\"a\":", "}")]
    [InlineData("[", "]")]
    public void Nesting_of_a_million_levels_is_refused_at_the_limit(string open, string close)
    {
        string json = "{\"x\":" + string.Concat(Enumerable.Repeat(open, 1_000_000)) + "1"
            + string.Concat(Enumerable.Repeat(close, 1_000_000)) + "}";

        InvalidDocumentException error = Assert.Throws<InvalidDocumentException>(() => Parse(json));

        Assert.Contains("deeper than 128 (MaxDocumentDepth)", error.Message, StringComparison.Ordinal);
        Assert.True(error.Message.Length < 1000, "the path is cut");
    }

    [Fact]
    public void Nesting_of_a_million_levels_is_read_where_the_limit_allows()
    {
        const int Levels = 1_000_000;
        string json = "{\"x\":" + string.Concat(Enumerable.Repeat("{\"a\":[", Levels / 2))
            + string.Concat(Enumerable.Repeat("]}", Levels / 2)) + "}";
        byte[] utf8 = Encoding.UTF8.GetBytes(json);

        ParsedDocument parsed = new DocumentParser(int.MaxValue, Levels + 1).Parse("users/1", utf8, new byte[utf8.Length]);

        Assert.Equal(Levels + 1, parsed.Depth);
        Assert.Equal(utf8.Length, parsed.BodyLength);
    }

    [Fact]
    public void The_limit_of_depth_is_the_greatest_allowed()
    {
        static string Nested(int depth) =>
            string.Concat(Enumerable.Repeat("{\"a\":", depth - 1)) + "{}" + new string('}', depth - 1);

        Assert.Equal(128, Parse(Encoding.UTF8.GetBytes(Nested(128)), 128).Depth);
        Assert.Throws<InvalidDocumentException>(() => Parse(Encoding.UTF8.GetBytes(Nested(129)), 128));
    }

    [Fact]
    public void A_document_over_the_limit_is_refused_unread_and_one_at_the_limit_is_not()
    {
        byte[] json = Encoding.UTF8.GetBytes("{\"a\":\"" + new string('x', 1000) + "\"}");

        new DocumentParser(json.Length, 8).Parse("users/1", json, new byte[json.Length]);
        InvalidDocumentException error = Assert.Throws<InvalidDocumentException>(
            () => new DocumentParser(json.Length - 1, 8).Parse("users/1", json, new byte[json.Length]));

        Assert.Contains("1,008 bytes, the limit is 1,007 (MaxDocumentBytes)", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_hundred_megabytes_with_millions_of_keys_take_linear_time()
    {
        // A million keys in one object, a million small objects and one long text: quadratic work would take hours, not seconds.
        var json = new StringBuilder("{\"text\":\"" + new string('x', 70_000_000) + "\",");
        for (int key = 0; key < 1_000_000; key++)
            json.Append("\"k").Append(key).Append("\":").Append(key).Append(',');
        json.Append("\"list\":[");
        for (int item = 0; item < 1_000_000; item++)
            json.Append("{\"id\":1,\"name\":2} , ");
        json.Append("0],\"@metadata\":{\"@collection\":\"Large\"}}");
        byte[] utf8 = Encoding.UTF8.GetBytes(json.ToString());
        Assert.True(utf8.Length > 100_000_000);
        var parser = new DocumentParser(int.MaxValue, 128);

        ParsedDocument parsed = parser.Parse("users/1", utf8, new byte[utf8.Length]);

        Assert.Equal("Large", Encoding.UTF8.GetString(parser.Collection));
        Assert.Equal(
            utf8.Length - ",\"@metadata\":{\"@collection\":\"Large\"}".Length - (3_000_000 - 1_000_000), parsed.BodyLength);
    }

    [Fact]
    public void A_key_that_stands_twice_is_found_among_a_million()
    {
        string json = "{" + string.Join(',', Enumerable.Range(0, 1_000_000).Select(key => $"\"k{key}\":0")) + ",\"k777777\":1}";

        InvalidDocumentException error = Assert.Throws<InvalidDocumentException>(() => Parse(json));

        Assert.Contains("'k777777' occurs twice", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_member_of_the_root_is_left_out_on_request()
    {
        byte[] json = "{\"Id\":\"users/1\",\"a\":{\"Id\":2},\"b\":[{\"Id\":3}]}"u8.ToArray();
        byte[] output = new byte[json.Length];

        ParsedDocument parsed = new DocumentParser(1000, 10).Parse("users/1", json, output, "Id"u8);

        Assert.Equal("{\"a\":{\"Id\":2},\"b\":[{\"Id\":3}]}", Encoding.UTF8.GetString(output, 0, parsed.BodyLength));
    }

    [Fact]
    public void A_parser_goes_on_after_what_it_refused()
    {
        var parser = new DocumentParser(1000, 10);
        byte[] output = new byte[1000];
        Assert.Throws<InvalidDocumentException>(() => parser.Parse("users/1", "{\"a\":{\"b\":{\"c\":1,\"c\":2}}}"u8, output));

        ParsedDocument parsed = parser.Parse("users/1", "{\"c\":1}"u8, output);

        Assert.Equal(7, parsed.BodyLength);
    }

    [Fact]
    public void Random_documents_say_the_same_before_and_after_and_damaged_ones_are_judged_as_the_platform_does()
    {
        var random = new Random(Seed.Next());
        var parser = new DocumentParser(1 << 20, 64);
        for (int run = 0; run < 3000; run++)
        {
            JsonObject document = RandomObject(random, depth: 0);
            document["@metadata"] = RandomObject(random, depth: 1);
            byte[] json = JsonSerializer.SerializeToUtf8Bytes(
                document, random.Next(2) == 0 ? _indented : JsonSerializerOptions.Default);
            byte[] output = new byte[json.Length];

            ParsedDocument parsed = parser.Parse("users/1", json, output);

            JsonNode body = JsonNode.Parse(output.AsSpan(0, parsed.BodyLength))!; // an object
            JsonNode metadata = parsed.MetadataLength == 0
                ? new JsonObject()
                : JsonNode.Parse(output.AsSpan(parsed.BodyLength, parsed.MetadataLength))!;
            JsonNode expectedMetadata = document["@metadata"]!;
            document.Remove("@metadata");
            Assert.True(JsonNode.DeepEquals(document, body), $"{document} became {body}");
            Assert.True(JsonNode.DeepEquals(expectedMetadata, metadata), $"{expectedMetadata} became {metadata}");

            json[random.Next(json.Length)] = (byte)" \"{}[]:,x0\\-\u0001"[random.Next(13)];
            Assert.Equal(IsValidToPlatform(json), IsValidToParser(parser, json));
        }
    }

    private static bool IsValidToPlatform(byte[] json)
    {
        try
        {
            using JsonDocument document = JsonDocument.Parse(json, new JsonDocumentOptions { AllowDuplicateProperties = false });
            ReadStrings(document.RootElement);
            return document.RootElement.ValueKind == JsonValueKind.Object
                && (!document.RootElement.TryGetProperty("@metadata", out JsonElement metadata)
                    || metadata.ValueKind == JsonValueKind.Object);
        }
        catch (Exception error) when (error is JsonException or InvalidOperationException)
        {
            return false;
        }
    }

    // The platform looks at halves of surrogate pairs only when a string is read.
    private static void ReadStrings(JsonElement element)
    {
        if (element.ValueKind == JsonValueKind.String)
            element.GetString();
        else if (element.ValueKind == JsonValueKind.Array)
            element.EnumerateArray().ToList().ForEach(ReadStrings);
        else if (element.ValueKind == JsonValueKind.Object)
            element.EnumerateObject()
                .ToList()
                .ForEach(property => ReadStrings(property.Name.Length >= 0 ? property.Value : default));
    }

    private static bool IsValidToParser(DocumentParser parser, byte[] json)
    {
        try
        {
            parser.Parse("users/1", json, new byte[json.Length]);
            return true;
        }
        catch (InvalidDocumentException)
        {
            return false;
        }
    }

    private static JsonObject RandomObject(Random random, int depth)
    {
        var result = new JsonObject();
        for (int count = random.Next(depth == 0 ? 8 : 5); count > 0; count--)
            result["k\"é"[random.Next(3)]
                + random.Next(100).ToString(System.Globalization.CultureInfo.InvariantCulture)] = RandomNode(random, depth + 1);
        return result;
    }

    private static JsonNode? RandomNode(Random random, int depth) => random.Next(depth > 4 ? 5 : 7) switch
    {
        0 => null,
        1 => random.Next(2) == 0,
        2 => random.NextDouble(),
        3 => random.Next(),
        4 => string.Concat(Enumerable.Range(0, random.Next(4)).Select(_ => _texts[random.Next(_texts.Length)])),
        5 => new JsonArray([.. Enumerable.Range(0, random.Next(4)).Select(_ => RandomNode(random, depth + 1))]),
        _ => RandomObject(random, depth + 1),
    };

    private static (string Body, string Metadata, string Collection) Parse(string json)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(json);
        byte[] output = new byte[utf8.Length];
        var parser = new DocumentParser(int.MaxValue, 128);
        ParsedDocument parsed = parser.Parse("users/1", utf8, output);
        return (
            Encoding.UTF8.GetString(output, 0, parsed.BodyLength),
            Encoding.UTF8.GetString(output, parsed.BodyLength, parsed.MetadataLength),
            Encoding.UTF8.GetString(parser.Collection));
    }

    private static ParsedDocument Parse(byte[] json, int maxDepth = 128) =>
        new DocumentParser(int.MaxValue, maxDepth).Parse("users/1", json, new byte[json.Length]);
}
