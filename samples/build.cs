// Makes the sample data of `--demo` from its sources. Run once when the samples change, from the repository's root:
//
//     dotnet run samples/build.cs -- <folder with northwind/*.ndjson, cities.ndjson.gz, movies.ndjson.gz>
//
// Same input, same bytes. What comes from where, and under which licence, is in samples/README.md. The program:
//   - renames fields and numbers ids in the way .NET document databases usually present Northwind (orders/1-A, OrderedAt, ShipTo …);
//   - gives every ship-to address, and every other address whose city it knows, the coordinates of its city, and fails if one order
//     is left without: the city list is asked by name and country (for the USA also by state), what it does not know stands in `byHand`;
//   - checks that every reference names a document;
//   - keeps the films of the years `firstYear` to `lastYear`.
#:property PublishAot=false

using System.Globalization;
using System.IO.Compression;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;

const int firstYear = 2000;
const int lastYear = 2023;

if (args is not [var source])
{
    Console.Error.WriteLine("usage: dotnet run samples/build.cs -- <folder with the sources>");
    return 2;
}

string target = Path.Combine(Directory.GetCurrentDirectory(), "samples");
var countries = new Dictionary<string, string>
{
    ["Argentina"] = "AR", ["Australia"] = "AU", ["Austria"] = "AT", ["Belgium"] = "BE", ["Brazil"] = "BR", ["Canada"] = "CA",
    ["Denmark"] = "DK", ["Finland"] = "FI", ["France"] = "FR", ["Germany"] = "DE", ["Ireland"] = "IE", ["Italy"] = "IT",
    ["Japan"] = "JP", ["Mexico"] = "MX", ["Netherlands"] = "NL", ["Norway"] = "NO", ["Poland"] = "PL", ["Portugal"] = "PT",
    ["Singapore"] = "SG", ["Spain"] = "ES", ["Sweden"] = "SE", ["Switzerland"] = "CH", ["UK"] = "GB", ["USA"] = "US",
    ["Venezuela"] = "VE",
};

// Names that the city list spells differently.
var aliases = new Dictionary<(string, string), string>
{
    [("México D.F.", "Mexico")] = "Mexico City",
    [("Frankfurt a.M.", "Germany")] = "Frankfurt am Main",
    [("Montceau", "France")] = "Montceau-les-Mines",
    [("Ste-Hyacinthe", "Canada")] = "Saint-Hyacinthe",
};

// Places below the 15,000 people from which the list begins, or that are no town.
var byHand = new Dictionary<(string, string), (double Latitude, double Longitude)>
{
    [("Bräcke", "Sweden")] = (62.75, 15.41667),
    [("Cunewalde", "Germany")] = (51.1, 14.51667),
    [("Elgin", "USA")] = (45.56486, -117.91743), // Oregon; the list knows only Elgin, Illinois
    [("I. de Margarita", "Venezuela")] = (10.99722, -63.91139), // the island
    [("Lander", "USA")] = (42.83301, -108.73067),
    [("Stavern", "Norway")] = (58.99944, 10.0325),
    [("Tsawassen", "Canada")] = (49.01667, -123.08333), // Tsawwassen, Delta
    [("Sandvika", "Norway")] = (59.89, 10.52639),
    [("Lyngby", "Denmark")] = (55.77, 12.50361), // Kongens Lyngby
};

Dictionary<(string Name, string Country), List<City>> cities = ReadCities(Path.Combine(source, "cities.ndjson.gz"));
var missingCities = new SortedSet<string>(StringComparer.Ordinal);
var written = new Dictionary<string, JsonObject>();
var companyIds = new Dictionary<string, string>();
int locatedOrders = 0;

WriteNorthwind();
WriteMovies();
CheckReferences();
foreach (string city in missingCities)
    Console.WriteLine($"no coordinates (not needed by an order): {city}");

Console.WriteLine($"{written.Count} documents, {locatedOrders} orders, each with a location.");
return 0;

void WriteNorthwind()
{
    Directory.CreateDirectory(Path.Combine(target, "northwind"));
    int number = 0;
    Write("categories", "Categories", from c in Read("categories") select Document(Id(c["id"]), "Categories", new()
    {
        ["Name"] = Copy(c["name"]), ["Description"] = Copy(c["description"]),
    }));
    Write("regions", "Regions", from r in Read("regions") select Document(Id(r["id"]), "Regions", new()
    {
        ["Name"] = Copy(r["name"]),
        ["Territories"] = Array(
            from t in r["territories"]!.AsArray() select new JsonObject
            {
                ["Code"] = Copy(t!["code"]),
                ["Name"] = Copy(t["name"])
            }),
    }));
    Write("shippers", "Shippers", from s in Read("shippers") select Document(Id(s["id"]), "Shippers", new()
    {
        ["Name"] = Copy(s["company_name"]), ["Phone"] = Copy(s["phone"]),
    }));
    Write("suppliers", "Suppliers", from s in Read("suppliers") select Document(Id(s["id"]), "Suppliers", new()
    {
        ["Name"] = Copy(s["company_name"]),
        ["Contact"] = new JsonObject { ["Name"] = Copy(s["contact_name"]), ["Title"] = Copy(s["contact_title"]) },
        ["Address"] = Address(s, "address", required: false),
        ["Phone"] = Copy(s["phone"]), ["Fax"] = Copy(s["fax"]), ["HomePage"] = Copy(s["homepage"]),
    }));
    Write("products", "Products", from p in Read("products") select Document(Id(p["id"]), "Products", new()
    {
        ["Name"] = Copy(p["product_name"]), ["Supplier"] = Id(p["supplier"]), ["Category"] = Id(p["category"]),
        ["QuantityPerUnit"] = Copy(p["quantity_per_unit"]), ["PricePerUnit"] = Number(p["unit_price"]),
        ["UnitsInStock"] = Copy(p["units_in_stock"]), ["UnitsOnOrder"] = Copy(p["units_on_order"]),
        ["ReorderLevel"] = Copy(p["reorder_level"]), ["Discontinued"] = p["discontinued"]!.GetValue<int>() == 1,
    }));
    Write("employees", "Employees", from e in Read("employees") select Document(Id(e["id"]), "Employees", new()
    {
        ["LastName"] = Copy(e["last_name"]), ["FirstName"] = Copy(e["first_name"]), ["Title"] = Copy(e["title"]),
        ["Address"] = Address(e, "address", required: false),
        ["HiredAt"] = Day(e["hire_date"]), ["Birthday"] = Day(e["birth_date"]), ["HomePhone"] = Copy(e["home_phone"]),
        ["Extension"] = Copy(e["extension"]), ["ReportsTo"] = e["reports_to"] is null ? null : Id(e["reports_to"]),
        ["Notes"] = Copy(e["notes"]), ["Territories"] = Copy(e["territories"]),
    }));

    // Companies are known by letters in the source: they are numbered in the order of those, and keep them as ExternalId.
    List<JsonObject> companies = [.. Read("companies").OrderBy(c => Text(c["id"]), StringComparer.Ordinal)];
    foreach (JsonObject company in companies)
        companyIds.Add(Text(company["id"]), $"companies/{++number}-A");

    Write("companies", "Companies", from c in companies select Document(companyIds[Text(c["id"])], "Companies", new()
    {
        ["ExternalId"] = Text(c["id"])["companies/".Length..], ["Name"] = Copy(c["name"]),
        ["Contact"] = new JsonObject { ["Name"] = Copy(c["contact"]!["name"]), ["Title"] = Copy(c["contact"]!["title"]) },
        ["Address"] = Address(c["address"]!.AsObject(), "line1", required: false),
        ["Phone"] = Copy(c["phone"]), ["Fax"] = Copy(c["fax"]),
    }));

    number = 0;
    Write("orders", "Orders", from o in Read("orders") select Document($"orders/{++number}-A", "Orders", new()
    {
        ["Company"] = companyIds[Text(o["company"])], ["Employee"] = Id(o["employee"]),
        ["OrderedAt"] = Day(o["ordered_at"]), ["RequireAt"] = Day(o["require_at"]), ["ShippedAt"] = Day(o["shipped_at"]),
        ["ShipTo"] = Address(o["ship_to"]!.AsObject(), "line1", required: true),
        ["ShipVia"] = Id(o["ship_via"]), ["Freight"] = Number(o["freight"]),
        ["Lines"] = Array(from l in o["lines"]!.AsArray() select new JsonObject
        {
            ["Product"] = Id(l!["product"]), ["ProductName"] = Copy(l["product_name"]),
            ["PricePerUnit"] = Number(l["price_per_unit"]),
            ["Quantity"] = Copy(l["quantity"]), ["Discount"] = Number(l["discount"]),
        }),
    }));
}

void WriteMovies()
{
    int number = 0;
    Save(Path.Combine(target, "movies.ndjson.gz"), from m in Lines(Path.Combine(source, "movies.ndjson.gz"))
        let year = m["year"]!.GetValue<int>()
        where year is >= firstYear and <= lastYear
        select Document($"movies/{++number}-A", "Movies", Movie(m, year)));
}

static JsonObject Movie(JsonObject m, int year)
{
    var movie = new JsonObject
    {
        ["Title"] = Copy(m["title"]),
        ["Year"] = year,
        ["Cast"] = Copy(m["cast"]),
        ["Genres"] = Copy(m["genres"])
    };
    if (m["href"] is { } article)
        movie["Article"] = "https://en.wikipedia.org/wiki/" + Text(article); // where the extract is from, and by whom
    if (m["extract"] is { } extract)
        movie["Extract"] = Copy(extract);
    return movie;
}

JsonObject Address(JsonObject a, string line, bool required)
{
    string city = Text(a["city"]), country = Text(a["country"]);
    string[] lines = a[line]?.GetValue<string>().Split(["\\n", "\n"], 2, StringSplitOptions.TrimEntries) ?? [];
    var address = new JsonObject
    {
        ["Line1"] = lines.Length > 0 ? lines[0] : null, ["Line2"] = lines.Length > 1 ? lines[1] : null, ["City"] = city,
        ["Region"] = Copy(a["region"]),
        ["PostalCode"] = Copy(a["postal_code"]), ["Country"] = country,
    };
    if (Locate(city, country, a["region"]?.GetValue<string>()) is { } location)
    {
        address["Location"] = new JsonObject { ["Latitude"] = location.Latitude, ["Longitude"] = location.Longitude };
        locatedOrders += required ? 1 : 0;
    }
    else if (required)
        throw new InvalidDataException($"No coordinates for {city}, {country}: add them to 'aliases' or 'byHand'.");
    else
        missingCities.Add($"{city}, {country}");

    return address;
}

(double Latitude, double Longitude)? Locate(string city, string country, string? region)
{
    string name = aliases.GetValueOrDefault((city, country), city);
    bool stateMatters = country == "USA" && region is not null;
    City? found = cities.GetValueOrDefault((name.ToUpperInvariant(), countries[country]), [])
        .Where(c => !stateMatters || c.Admin1 == region)
        .MaxBy(c => c.Population);
    if (found is not null)
        return (found.Latitude, found.Longitude);

    return byHand.TryGetValue((city, country), out var place) ? place : null;
}

void Write(string name, string collection, IEnumerable<JsonObject> documents) =>
    Save(Path.Combine(target, "northwind", name + ".ndjson.gz"), documents);

// The form in which `treepie export` writes and `treepie import` reads: the document, its id and collection in @metadata.
void Save(string path, IEnumerable<JsonObject> documents)
{
    var options = new JsonWriterOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };
    int count = 0;
    using (var file = new GZipStream(File.Create(path), CompressionLevel.SmallestSize))
        foreach (JsonObject document in documents)
        {
            using (var writer = new Utf8JsonWriter(file, options))
                document.WriteTo(writer);

            file.WriteByte((byte)'\n');
            written.Add(Text(document["@metadata"]!["@id"]), document);
            count++;
        }

    Console.WriteLine($"{count,6} documents, {new FileInfo(path).Length,9:N0} bytes  {Path.GetRelativePath(target, path)}");
}

void CheckReferences()
{
    foreach ((string id, JsonObject document) in written)
        foreach (string reference in References(document))
            if (!written.ContainsKey(reference))
                throw new InvalidDataException($"{id} refers to {reference}, which is not there.");
}

static IEnumerable<string> References(JsonObject document)
{
    foreach (string field in (string[])["Company", "Employee", "ShipVia", "Supplier", "Category", "ReportsTo"])
        if (document[field] is { } reference)
            yield return Text(reference);

    foreach (JsonNode? line in document["Lines"] as JsonArray ?? [])
        yield return Text(line!["Product"]);
}

IEnumerable<JsonObject> Read(string name) => Lines(Path.Combine(source, "northwind", name + ".ndjson"));

static IEnumerable<JsonObject> Lines(string path)
{
    using Stream file = File.OpenRead(path);
    using Stream content = path.EndsWith(".gz", StringComparison.Ordinal)
        ? new GZipStream(file, CompressionMode.Decompress)
        : file;
    using var reader = new StreamReader(content, Encoding.UTF8);
    while (reader.ReadLine() is { Length: > 0 } line)
        yield return JsonNode.Parse(line)!.AsObject();
}

static Dictionary<(string, string), List<City>> ReadCities(string path)
{
    var byName = new Dictionary<(string, string), List<City>>();
    foreach (JsonObject c in Lines(path))
    {
        string country = Text(c["country"]);
        var city = new City(
            c["admin1"]?.GetValue<string>(), c["population"]!.GetValue<long>(), c["location"]!["lat"]!.GetValue<double>(),
            c["location"]!["lng"]!.GetValue<double>());
        IEnumerable<string> names = c["alternate_names"]!.AsArray()
            .Select(n => Text(n))
            .Append(Text(c["name"]))
            .Append(Text(c["ascii_name"]));
        foreach (string name in names.Select(n => n.ToUpperInvariant()).Distinct())
        {
            if (!byName.TryGetValue((name, country), out List<City>? list))
                byName.Add((name, country), list = []);

            list.Add(city);
        }
    }

    return byName;
}

static JsonObject Document(string id, string collection, JsonObject document)
{
    document["@metadata"] = new JsonObject { ["@collection"] = collection, ["@id"] = id };
    return document;
}

static string Id(JsonNode? id) => Text(id) + "-A";

static string Text(JsonNode? node) => node!.GetValue<string>();

static JsonNode? Copy(JsonNode? node) => node?.DeepClone();

static JsonArray Array(IEnumerable<JsonNode> items) => [.. items];

static JsonNode? Day(JsonNode? day) => day is null ? null : Text(day) + "T00:00:00.0000000";

// The source went through 32-bit floats: 32.3800011 was 32.38.
static JsonNode Number(JsonNode? number) =>
    JsonNode.Parse(((float)number!.GetValue<double>()).ToString("0.######", CultureInfo.InvariantCulture))!;

internal sealed record City(string? Admin1, long Population, double Latitude, double Longitude);
